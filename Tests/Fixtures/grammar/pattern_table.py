"""Prints what Python says about regular expressions and texts, as Tests/SkeinGrammarTests/PythonPatterns.swift
has it after `swift format`: python3 pattern_table.py > PythonPatterns.swift"""

import re, random, itertools
pats = [r'abc', r'^abc', r'abc$', r'^abc$', r'a|b', r'^a|b$', r'(^a)?b', r'x*^y', r'a$b', r'^a$|^b$', r'^', r'$', r'^$', r'$^',
 r'(^|a)b', r'(?:^a|b)*c$', r'(a|b$)*c', r'a{2}', r'^a{2}$', r'^a{0,2}$', r'^a{2,}$', r'^(ab){1,2}$', r'^a*?b+?$', r'^a??$',
 r'^(a|b)*$', r'^(a*)*$', r'^(a?){3}$', r'^(|a)+$', r'()', r'^[a-c]+$', r'^[^a-c]+$', r'^[a\-c]+$', r'^[-a]+$', r'^[a-]+$', r'^[\]a]+$',
 r'^\d+$', r'^\D+$', r'^\w+$', r'^\W+$', r'^\s+$', r'^\S+$', r'^[^\s]+$', r'^[^\W]+$', r'^[\d.]+$', r'^.+$', r'^.$', r'^\x61\u0062$', r'^[\x61-\u0063]+$',
 r'^\.\*\+\?$', r'^a{,$', r'^a{x}$', r'^{}$', r'^a]$', r'^a}$', r'^\/$', r'^[[]$', r'^[\b]$', r'^\t\n\v\f\r\0$', r'^(?:a(?:b(?:c)?)?)?$', r'(a|ab)(c|bcd)$',
 r'^é+$', r'^[à-ü]+$', r'^\U0001F600$'.replace(r'\U0001F600','\U0001F600'), r'^[\U0001F600-\U0001F64F]$'.encode().decode('raw_unicode_escape') if False else '^[\U0001F600-\U0001F64F]$', r'^a.c$', r'\-\-', r'^\_$',
 r'^(a$|b)', r'((^a)|b)*$', r'a^', r'^^a$$', r'(a|^)*b', r'(?:a|$)+', r'^(?:ab?|b?a)+$', r'[ac]{2}b{1,2}$']
texts = ['', 'a','b','c','y','ab','ba','bb','aa','abc','xabcx','abcabc','aaa','cab','abab','ac','a-c','-','a]','a}','a{,','a{x}','{}','/','[','\x08','\t\n\x0b\x0c\r\0','.*+?','.','0','12','1.5','\u0661','_','A_9',' ','\u00a0','\ufeff','\x1c','\x85','\n','a\nc','a\u2028c','a\rc','é','ü','\U0001F600','\U0001F680','abcd','--','xy','\u00aa','٣a']
def sw(s):
    out='"'
    for c in s:
        if c in '"\\': out+='\\'+c
        elif 0x20<=ord(c)<0x7f: out+=c
        else: out+='\\u{%X}'%ord(c)
    return out+'"'
rng=random.Random(7)
def rp(d):
    k=rng.random()
    if d==0 or k<.3: return rng.choice(['a','b','a','b','.','[^a]','^','$','a','(?:)'])
    if k<.55: return rp(d-1)+rp(d-1)
    if k<.75: return '(?:'+rp(d-1)+'|'+rp(d-1)+')'
    return '('+rp(d-1)+')'+rng.choice(['*','+','?','{2}','{0,2}','{1,3}','{2,}','*?'])
words=[''.join(w) for n in range(5) for w in itertools.product('ab',repeat=n)]
rnd=[]
while len(rnd)<80:
    p=rp(4)
    if 3<=len(p)<40 and len(sw(p))<48 and p not in rnd: rnd.append(p)
def bits(p,ts,fn):
    return ''.join('1' if fn(re.compile(p),t) else '0' for t in ts)
def py(p,t):   # ours: $ is the very end
    return p
# places where ECMA-262 or our sound middle differs from Python are marked with '-'
def row(p,ts):
    s=''
    for t in ts:
        q=re.sub(r'(?<!\\)\$', r'\\Z', p)
        u=bool(re.search(q,t)); a=bool(re.search(q,t,re.A))
        amb = (u!=a)
        if re.search(r'(?<!\\)\.|\\s|\\S|\\W|\\w|\\D|\\d',p) and any(c in t for c in '\r\u2028\ufeff\x1c\x85\u00a0'): amb=True
        s+= '-' if amb else ('1' if u else '0')
    return s
L=['// Made by pattern_table.py in Tests/Fixtures/grammar with Python %s: what `re.search` says, with\n// `$` as `\\Z`.'%'.'.join(map(str,__import__("sys").version_info[:3])),
'// `1` matches, `0` does not, `-` depends on the dialect (ASCII or Unicode classes, line terminators).','',
'/// Regular expressions with what Python says about each of a list of texts.',
'enum PythonPatterns {','    static let texts: [String] = [']
line='       '
for t in texts:
    if len(line)+len(sw(t))+2>100: L.append(line); line='       '
    line+=' '+sw(t)+','
L.append(line)
L.append('    ]'); L.append('')
L.append('    static let searches: [(pattern: String, matches: String)] = [')
for p in pats:
    one='        (%s, "%s"),'%(sw(p),row(p,texts))
    L+=[one] if len(one)<=100 else ['        (','            %s,'%sw(p),'            "%s"'%row(p,texts),'        ),']
L.append('    ]'); L.append('')
L.append('    /// Random ones, for all words of up to four letters `a` and `b`, the shorter ones first.')
L.append('    static let random: [(pattern: String, matches: String)] = [')
for p in rnd: L.append('        (%s, "%s"),'%(sw(p),row(p,words)))
L.append('    ]'); L.append('}')
print('\n'.join(L))
