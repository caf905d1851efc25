/// The general categories and scripts of all code points, as `tokenizers` 0.23.3 has them.
///
/// Data and not the toolchain's tables, for the reason that `CharacterRanges` gives. Measured by
/// Tests/Fixtures/tokenizers/make_unicode_categories.py, which writes this.
enum UnicodeCategories {
    /// The categories, each by the letter that stands for it in `runs`.
    static let names: [(letter: Character, name: String)] = [
        ("g", "Cc"), ("h", "Cf"), ("i", "Cn"), ("j", "Co"), ("k", "Ll"), ("l", "Lm"),
        (
            "m",
            "Lo"
        ), ("n", "Lt"), ("o", "Lu"), ("p", "Mc"), ("q", "Me"), ("r", "Mn"), ("s", "Nd"),
        ("t", "Nl"), ("u", "No"), ("v", "Pc"), ("w", "Pd"), ("x", "Pe"), ("y", "Pf"),
        (
            "z",
            "Pi"
        ), ("G", "Po"), ("H", "Ps"), ("I", "Sc"), ("J", "Sk"), ("K", "Sm"), ("L", "So"),
        ("M", "Zl"), ("N", "Zp"), ("O", "Zs"),
    ]

    /// From U+0000 on: the letter of a category and for how many code points it goes on, a
    /// hexadecimal number or nothing for one. Surrogates count as unassigned.
    static let runs = """
        g20OG3IG3HxG KGwG2saG2K3G2 o1aHGxJvJk1a HKxKg21OGI4 LGJLmzKh LJLKu2JkG2 Jumyu3Go17K
        o7k18Kk8okok okokokok okokokok okokokok okokokok okokokok okokokok okok2okok okokokok
        okok2okok okokokok okokokok okokokok okokokok okokokok oko2kokok3 o2koko2ko3k2
        o4ko2ko3k3o2k o2kokoko2k ok2oko2ko3k oko2k2mok3m4 onkonkon kokokoko kokokoko k2okokoko
        kokokoko kok2onkok o3kokokok okokokok okokokok okokokok okokokok okokokok okokokok
        okok7o2ko2k2 oko4kokok okok45mk1bl12J4 lcJel5J7lJlJ11 r70okoklJo ki2lk3Goi4J2 oGo3ioio2k
        o11io9k23ok2o3k3 okokokok okokokok okokokok5 okKoko2k2o33 k30okokoko kokokoko kokokoko
        kokokoko kokLr5q2ok okokokok okokokok okokokok okokokok okokokok okokokok okoko2kok
        okokokok ok2okokok okokokok okokokok okokokok okokokok okokokok okokokok okokokok okokokok
        okokokok okokokok okokokok okio26i2lG6k29 Gwi2L2Iir2dw rGr2Gr2Gri8 m1bi4m4G2ibh6K3G2
        IG2L2rbGhG3m20 lmar15saG4m2rm63 Gmr7hLr6l2r2 Lr4m2sam3L2mGe ihmrm1er1bi2m59
        rbmiesam21r9l2L G3li2rI2m16r4l r9lr3lr5i2Gfi m19r3i2Gimbi5m18 Jm6ih2i5r9m29l
        r18hr20pm36rpr mp3r8p4rp2mr7 mar2G2saGlmfr p2im8i2m2i2m16i m7imi3m4i2rm p3r4i2p2i2p2rm
        i8pi4m2im3r2i2 sam2I2u6LImG ri2r2pim6i4m2 i2m16im7im2im2 im2i2rip3r2i4 r2i2r3i3ri7m4i
        mi7sar2m3rGia r2pim9im3im16 im7im2im5i2r mp3r5ir2pip2 ri2mifm2r2i2sa GIi7mr6irp2
        im8i2m2i2m16im7 im2im5i2rmp rpr4i2p2i2p2r i7r2pi4m2im3r2 i2saLmu6iarm im6i3m3im4i3m2
        imim2i3m2i3m3 i3mci4p2rp2i3p3 ip3ri2mi6pie sau3L6ILi5rp3 rm8im3im17im10 i2rmr3p4ir3i
        r4i7r2im3i2mi2 m2r2i2sai7Gu7L mrp2Gm8im3i m17imaim5i2rm prp5irp2ip2 r2i7p2i6m2im2r2
        i2saim2picr2p2 m9im3im29r2mp3 r4ip3ip3rmL i4m3pu7m3r2i2sa u9Lm6irp2im12 i3m18im9imi2m7
        i3ri4p3r3iri p8i6sai2p2Gicm30 rm2r7i4Im6lr8 GsaG2i25m2imi m5im18imimar m2r9mi2m5ili
        r7isai2m4i20mL3 GfLGL3r2L6saua LrLrLrHx Hxp2m8im24i4re pr5Gr2m5rbir24 iL8rL6iL2G5L4
        G2i25m2bp2r4pr6p r2p2r2msaG6m6p2 r2m4r3mp3m2p7m3 r4mdrp2r2p6rm psap3rL2o26io
        i5oi2k2bGlk3m149 im4i2m7imim4 i2m29im4i2m21im4 i2m7imim4i2mf im39im4i2m43i2r3
        G9u14i3m10Lai6o56i2 k6i2wm26cLGm11O m1aHxi3m4bG3t3m8 i7m12r3pi9m13r2p G2i9m12r2icmdim3
        ir2icm34r2pr7p8 rp2rbG3lG3Im ri2sai6uai6G6w G4r3hrsai6m23l m35i7m5r2m22rmi5
        m46iam1fir3p4r2p3 i4p2rp6r3i4Li3 G2sam1ei2m5ibm2ci4 m1ai6saui3L22m17r2 p2ri2G2m35prp
        r7irprp2r8p6 rai2rsai6sai6G7 lG6i2reqr10i31r4 pm2frpr5prp5 rp2m8iG2saG7La r9L9G3r2pm1epr4
        p2r2pr3m2sam2cr pr2p3rpr3p2i8 G4m24p8r8p2r2i3G5 sai3m3sam1el6G2k9 oki5o2bi2o3G8i8
        r3Grdpr7m4rm6 rm2pr2mi5k2cl3f kdlk22l25r40oko kokokoko kokokoko kokokoko kokokoko kokokoko
        kokokoko kokokoko kokokoko kokokoko kokokoko kokokoko kokokoko kokokoko kokokoko kokokoko
        kokokoko kokokoko kokokoko kok9okoko kokokoko kokokoko kokokoko kokokoko kokokoko kokokoko
        kokokoko kokokoko kokokoko kokokoko kokokoko kokok9o8k6i2 o6i2k8o8k8o8k6i2 o6i2k8ioioi
        oiok8o8kei2k8 n8k8n8k8n8k5ik2 o4nJkJ3k3ik2 o4nJ3k4i2k2o4i J3k8o5J3i2k3ik2 o4nJ2iObh5w6G2
        zyHz2yHzG8 MNh5OG9zyG4 v2G3KHxGbKG vGaOh5ihaul i2u6K3HxluaK3 Hxildi3I21ifrd q4rq3rcifL2oL4
        oL2ko3k2o3kL oL2Ko5L6oLo LoLo4Lko4k m4kL2k2o2K5ok4 LKL2kLu10t23o kt4uL2i4K5L5K2
        L4KL2KL2KL7K L1fK2L2KLKL1fK10c L8HxHxL14K2L7 HxL51KL1eK19L28K6 L48i16Lbi15u3cL4eu16Lb7
        KL9KL36K8L6fKLf8 HxHxHxHx HxHxHxu1eL2c K5HxK1fHxHx HxHxHxK10L100 K83HxHxHxH xHxHxHxH
        xHxHxHxK3f HxHxK20HxK102 L30K15L2K6L27i2L20i L69o30k30oko3k2o kokoko4ko k2ok6l2o3kok
        okokokok okokokok okokokok okokokok okokokok okokokok okokokok okokokok okokokok okokokok
        okokokok okokokok2 L6okokr3ok i5G4uG2k26iki5 ki2m38i7lGier m17i9m7im7im7i m7im7im7im7i
        m7ir20G2zyzy G3zyGzyG9w G2wGzyG2zy HxHxHxHx G5lGaw2G4wGH GdL2G3HxHxH xHxwi22L1aiL59
        icLd6i1aL10OG3Ll mtHxHxHx HxHxL2HxH xHxHxwHx2 Lt9r4p2wl5L2t3 lmGL2im56i2r2 J2l2mwm5aGl3m
        i5m2bim5eiL2u4La m20L26i9Lm10L1fiua L1eu8LufL20uaL27uf L140m19c0L40m5215lm477i3L37
        i9m28l6G2m10clG3m10 sam2i14okoko kokokoko kokokoko kokokoko kokokoko kokokoko kmrq3GraGl
        okokokok okokokok okokokok okokl2r2m46ta r2G6i8J17l9J2ok okokokok okok3okok okokokok
        okokokok okokokok okokokok okokokok okokokok okokokok oklk8okok o2kokokok oklJ2okok
        mokok3oko kokokoko kokokoko ko5ko5koko kokokoko koko4koko2 ki2okikik okokokoi15
        l3okml2km7r m3rm4rm17p2r2p L4ri3u6L2ILi6 m34G4i8p2m32p10r2i8 G2sai6r12m6G3mG
        m2rsam1cr8G2m17rb p2ibGm1di3r3pm2f rp2r4p2r2p3Gdi lsai4G2m5rlm9 sam5im29r6p2r2p2
        r2i9m3rm8rpi2 sai2G4m10lm6L3m prpm32rmr3m2 r2m5r2mrmi18m2 lG2mbpr2p2G2m l2priam6i2m6i2
        m6i9m7im7ik2bJ l4k9lJ2i4k50m23p2 rp2rp2Gpri2 sai6m2ba4icm17i4m31i804
        j1900m16ei2m6ai26k7ick5 i5mrmaKmdim5 imim2im2im6c J11i10m16bxHL10m40i2 m36i7Li20mcIL3r10
        G7HxGi6r10Gw2 v2HxHxHxH xHxHxHxH xG2HxG4v3G3i G4wHxHxHx G3KwK3iGIG2 i4m5im87i2hiG3
        IG3HxGKGw G2saG2K3G2o1aHG xJvJk1aHKx KHxGHxG2ma lm2dl2m1fi3m6i2m6 i2m6i2m3i3I2KJ
        LI2iLK4L2iah3 L2i2mcim1aim13i m2imfi2mei22m7bi5 G3i4u2di3L9t35u4L11 u2L3iLdi3Li2fL2d
        ri82m1di3m31ifru1b i4m20u4i9m14tm8t i5m26r5i5m1eiGm24 i4m8Gt5i2ao28k28m4e
        i2sai6o24i4k24i4m28 i8m34ibGobiofi o7io2ikbikfi k7ik2i3m34icm137i9 m16iam8i18l6il2ai
        l9i45m6i2mim2ci m2i3mi2m17iGu8 m17L2u7m1fi8u9i30m13 im2i5u5m16u6i3G m1ai5Gi40m38i4u2m2
        u10i2u2emr3ir2i5 r4m4im3im1di2r3 i4ru9i7G9i7m1du2 Gm1du3i20m8Lm1cr2 i4u5G7i9m36i3G7m16
        i2u8m13i5u8m12i7G4 icu7i50m49i37o33idk33 i7u6m24r4i8sai6sa m4lmo16i3r5wl
        k16i8K2id0u1fim2ai r2wi2m2i10m3i37r4 m1duami8m16rbu4G5 i16m12r4G4i26m15u7i14
        m17i9prpm35rfG7 i4u14sarm2r2mi9 r3pm2dp3r4p2r2G2 hG4riahi2m19i7 sai6r3m24r5pr8i
        saG4mp2mi8m23r G2mi9r2pm30p3r9 p2m4G4r4Gprsa mGmG3iu14ibm12 im19p3r3p2rpr2 G6rm2ri3em7im
        im4imfimaGi6 m2frp3r8i5sai6r2 p2im8i2m2i2m16i m7im2im5ir2m p2rp4i2p2i2p3i2 mi6pi5m5p2i2r7
        i3r5ibmaimi2m im26imp3r6ip i2pip4ip2rp rmrmG2iG2i8 r2i1dm35p3r8p2r3p rm4G5saG2iGr
        m3i1em30p3r6prp4 r2pr2m2Gmi8sa ia6m2fp3r4i2p4r2p r2G17m4r2i22m30p3r8 p2rpr2G3mibsa
        i6Gdi13m2brprp2 r6prmGi6sai6 s14i1cm1bi2rprp2 r4pr5i4sau2G3L m7ib9m2cp3r9pr2G
        i64o20k20sau9icm8i2 mi2m8im2im18p6 ip2i2r2prmp mprG3i9sai46m8 i2m27p3r4i2r2p4r
        mGmpi1bmram28 r6pmr4G8ri8m r6p2r3m2erdpr2G3 mG5idm49i7Gaib6m21 Giesai6m9im25p r7ir6prmG5ia
        sau13i3G2m1ei2r16i pr7pr2pr2i49m7 im2im26r6i3ri r2ir7mri8sai6 m6im2im20p5ir2 ip2rprmi7sa
        i136m13r2p2G2i7r2m pmdim22p2r5i3p2 rprGdsari55m ifu15L8I4L11idGm39a i66t6fiG5ibmc4ia4cm61
        G2idm430h10rm6rfia mf9bi5m247i1ab9m1ercp3r3 sai6c6m239i7m1fisai4 G2m4fisai6m1ei2r5
        Giam30r7G5L4l4G Liasaiu7im15i5 m13i1b0l3m28l2G3saic6 o20k20u17G4i65m4bi4r mp37i7r4ldi40l2G
        lribp2iem17f8i8m4d6 i29mai22e7l4il7il2 im123ifmi1dm3i2m iem4i8m18ci904m6bi5md
        i3m9i7mai2Lr2G h4if5cLf0sai6L1b4i4cr2e i2r17i9L74i3cLf6iaL27 i2L3cp2r3L3p6h8r8
        L2r7L1er4L3di15L42r3 Li7au14icu14icL57i9 u19i87o1ak1ao1ak7ik12 o1ak1aoio2i2oi2
        o2i2o4io8k4ik ik7ikbo1ak1ao2i o4i2o8io7ik1ao2 io4io5ioi3o7 ik1ao1ak1ao1ak1ao1ak1a
        o1ak1ao1ak1ao1ak1ci2o19 Kk19Kk6o19Kk19K k6o19Kk19Kk6o19K k19Kk6o19Kk19Kk6
        oki2s32L200r37L4r32 L8rLerL2G5ifr5 irfi450kamk14i6k6 id5r7ir11i2r7ir2 ir5i5l3ei21ri70m2d
        i3r7l7i2sai4mL i140m1eri11m2cr4sai5 Ii1d0m1blr4said6m1e r2msai4Gi1e0m7i m4im2imfimc5i2
        u9r7i29o22k22r7li4 sai4G2i311u3bLu3I u4i4cu2dLufic2m4i m1bim2imi2mi maim4imimi6 mi4mimimi
        m3im2imi2mi mimimimi m2imi2m4im7i m4im4imimai m11i5m3im5im11i34 K2i10eL2ci4L64icLfi2
        LfiLfiL25iaudLa1 i38L1didL2ci4L9i7L2 ieL6i9aLfbJ5L2d8i4L11 i3Ldi3L77i4L5fi6Lc
        i4LifLci4L38i8La i6L28i8L1ei2Lci4L2 i3eL154icLei2Ldi3La i5L38i7Lfi2Lbi6L9
        i7L93iL5csai406ma6e0i20 m103ai6mdei2m1682iem1d31if m26ei9a2m21ei5e2m134bi5m1060iadc51
        hi1eh60i80rf0ife10jfffei2 jfffei2
        """

    /// Alphabetic beyond the letters and the letter numbers, as hexadecimal ranges.
    static let otherAlphabetic = """
        345 363-36F 5B0-5BD 5BF 5C1-5C2 5C4-5C5 5C7 610-61A 64B-657 659-65F 670 6D6-6DC 6E1-6E4
        6E7-6E8 6ED 711 730-73F 7A6-7B0 816-817 81B-823 825-827 829-82C 897 8D4-8DF 8E3-8E9
        8F0-903 93A-93B 93E-94C 94E-94F 955-957 962-963 981-983 9BE-9C4 9C7-9C8 9CB-9CC 9D7
        9E2-9E3 A01-A03 A3E-A42 A47-A48 A4B-A4C A51 A70-A71 A75 A81-A83 ABE-AC5 AC7-AC9 ACB-ACC
        AE2-AE3 AFA-AFC B01-B03 B3E-B44 B47-B48 B4B-B4C B56-B57 B62-B63 B82 BBE-BC2 BC6-BC8
        BCA-BCC BD7 C00-C04 C3E-C44 C46-C48 C4A-C4C C55-C56 C62-C63 C81-C83 CBE-CC4 CC6-CC8
        CCA-CCC CD5-CD6 CE2-CE3 CF3 D00-D03 D3E-D44 D46-D48 D4A-D4C D57 D62-D63 D81-D83 DCF-DD4
        DD6 DD8-DDF DF2-DF3 E31 E34-E3A E4D EB1 EB4-EB9 EBB-EBC ECD F71-F83 F8D-F97 F99-FBC
        102B-1036 1038 103B-103E 1056-1059 105E-1060 1062-1064 1067-106D 1071-1074 1082-108D 108F
        109A-109D 1712-1713 1732-1733 1752-1753 1772-1773 17B6-17C8 1885-1886 18A9 1920-192B
        1930-1938 1A17-1A1B 1A55-1A5E 1A61-1A74 1ABF-1AC0 1ACC-1ACE 1B00-1B04 1B35-1B43 1B80-1B82
        1BA1-1BA9 1BAC-1BAD 1BE7-1BF1 1C24-1C36 1DD3-1DF4 24B6-24E9 2DE0-2DFF A674-A67B A69E-A69F
        A802 A80B A823-A827 A880-A881 A8B4-A8C3 A8C5 A8FF A926-A92A A947-A952 A980-A983 A9B4-A9BF
        A9E5 AA29-AA36 AA43 AA4C-AA4D AA7B-AA7D AAB0 AAB2-AAB4 AAB7-AAB8 AABE AAEB-AAEF AAF5
        ABE3-ABEA FB1E 10376-1037A 10A01-10A03 10A05-10A06 10A0C-10A0F 10D24-10D27 10D69
        10EAB-10EAC 10EFC 11000-11002 11038-11045 11073-11074 11080-11082 110B0-110B8 110C2
        11100-11102 11127-11132 11145-11146 11180-11182 111B3-111BF 111CE-111CF 1122C-11234 11237
        1123E 11241 112DF-112E8 11300-11303 1133E-11344 11347-11348 1134B-1134C 11357 11362-11363
        113B8-113C0 113C2 113C5 113C7-113CA 113CC-113CD 11435-11441 11443-11445 114B0-114C1
        115AF-115B5 115B8-115BE 115DC-115DD 11630-1163E 11640 116AB-116B5 1171D-1172A 1182C-11838
        11930-11935 11937-11938 1193B-1193C 11940 11942 119D1-119D7 119DA-119DF 119E4 11A01-11A0A
        11A35-11A39 11A3B-11A3E 11A51-11A5B 11A8A-11A97 11C2F-11C36 11C38-11C3E 11C92-11CA7
        11CA9-11CB6 11D31-11D36 11D3A 11D3C-11D3D 11D3F-11D41 11D43 11D47 11D8A-11D8E 11D90-11D91
        11D93-11D96 11EF3-11EF6 11F00-11F01 11F03 11F34-11F3A 11F3E-11F40 1611E-1612E 16F4F
        16F51-16F87 16F8F-16F92 16FF0-16FF1 1BC9E 1E000-1E006 1E008-1E018 1E01B-1E021 1E023-1E024
        1E026-1E02A 1E08F 1E947 1F130-1F149 1F150-1F169 1F170-1F189
        """

    /// `\w` beyond the alphabetic, the marks, Nd and Pc.
    static let otherWord = "B2-B3 B9 BC-BE"

    /// What the pre-tokenizers Punctuation and BertPreTokenizer cut at: not quite P and ASCII's.
    static let punctuation = """
        21-2F 3A-40 5B-60 7B-7E A1 A7 AB B6-B7 BB BF 37E 387 55A-55F 589-58A 5BE 5C0 5C3 5C6
        5F3-5F4 609-60A 60C-60D 61B 61E-61F 66A-66D 6D4 700-70D 7F7-7F9 830-83E 85E 964-965 970
        AF0 DF4 E4F E5A-E5B F04-F12 F14 F3A-F3D F85 FD0-FD4 FD9-FDA 104A-104F 10FB 1360-1368 1400
        166D-166E 169B-169C 16EB-16ED 1735-1736 17D4-17D6 17D8-17DA 1800-180A 1944-1945 1A1E-1A1F
        1AA0-1AA6 1AA8-1AAD 1B5A-1B60 1BFC-1BFF 1C3B-1C3F 1C7E-1C7F 1CC0-1CC7 1CD3 2010-2027
        2030-2043 2045-2051 2053-205E 207D-207E 208D-208E 2308-230B 2329-232A 2768-2775 27C5-27C6
        27E6-27EF 2983-2998 29D8-29DB 29FC-29FD 2CF9-2CFC 2CFE-2CFF 2D70 2E00-2E2E 2E30-2E42
        3001-3003 3008-3011 3014-301F 3030 303D 30A0 30FB A4FE-A4FF A60D-A60F A673 A67E A6F2-A6F7
        A874-A877 A8CE-A8CF A8F8-A8FA A8FC A92E-A92F A95F A9C1-A9CD A9DE-A9DF AA5C-AA5F AADE-AADF
        AAF0-AAF1 ABEB FD3E-FD3F FE10-FE19 FE30-FE52 FE54-FE61 FE63 FE68 FE6A-FE6B FF01-FF03
        FF05-FF0A FF0C-FF0F FF1A-FF1B FF1F-FF20 FF3B-FF3D FF3F FF5B FF5D FF5F-FF65 10100-10102
        1039F 103D0 1056F 10857 1091F 1093F 10A50-10A58 10A7F 10AF0-10AF6 10B39-10B3F 10B99-10B9C
        11047-1104D 110BB-110BC 110BE-110C1 11140-11143 11174-11175 111C5-111C9 111CD 111DB
        111DD-111DF 11238-1123D 112A9 114C6 115C1-115D7 11641-11643 1173C-1173E 12470-12474
        16A6E-16A6F 16AF5 16B37-16B3B 16B44 1BC9F 1DA87-1DA8B
        """

    /// The scripts by their names in small letters.
    static let scripts: [String: String] = [
        "arabic": """
        600-604 606-60B 60D-61A 61C-61E 620-63F 641-64A 656-66F 671-6DC 6DE-6FF 750-77F
        870-88E 890-891 897-8E1 8E3-8FF FB50-FBC2 FBD3-FD3D FD40-FD8F FD92-FDC7 FDCF FDF0-FDFF
        FE70-FE74 FE76-FEFC 10E60-10E7E 10EC2-10EC4 10EFC-10EFF 1EE00-1EE03 1EE05-1EE1F
        1EE21-1EE22 1EE24 1EE27 1EE29-1EE32 1EE34-1EE37 1EE39 1EE3B 1EE42 1EE47 1EE49 1EE4B
        1EE4D-1EE4F 1EE51-1EE52 1EE54 1EE57 1EE59 1EE5B 1EE5D 1EE5F 1EE61-1EE62 1EE64
        1EE67-1EE6A 1EE6C-1EE72 1EE74-1EE77 1EE79-1EE7C 1EE7E 1EE80-1EE89 1EE8B-1EE9B
        1EEA1-1EEA3 1EEA5-1EEA9 1EEAB-1EEBB 1EEF0-1EEF1
        """,
        "armenian": """
        531-556 559-58A 58D-58F FB13-FB17
        """,
        "bengali": """
        980-983 985-98C 98F-990 993-9A8 9AA-9B0 9B2 9B6-9B9 9BC-9C4 9C7-9C8 9CB-9CE 9D7
        9DC-9DD 9DF-9E3 9E6-9FE
        """,
        "bopomofo": """
        2EA-2EB 3105-312F 31A0-31BF
        """,
        "common": """
        0-40 5B-60 7B-A9 AB-B9 BB-BF D7 F7 2B9-2DF 2E5-2E9 2EC-2FF 374 37E 385 387 605 60C 61B
        61F 640 6DD 8E2 964-965 E3F FD5-FD8 10FB 16EB-16ED 1735-1736 1802-1803 1805 1CD3 1CE1
        1CE9-1CEC 1CEE-1CF3 1CF5-1CF7 1CFA 2000-200B 200E-2064 2066-2070 2074-207E 2080-208E
        20A0-20C0 2100-2125 2127-2129 212C-2131 2133-214D 214F-215F 2189-218B 2190-2429
        2440-244A 2460-27FF 2900-2B73 2B76-2B95 2B97-2BFF 2E00-2E5D 2FF0-3004 3006 3008-3020
        3030-3037 303C-303F 309B-309C 30A0 30FB-30FC 3190-319F 31C0-31E5 31EF 3220-325F
        327F-32CF 32FF 3358-33FF 4DC0-4DFF A700-A721 A788-A78A A830-A839 A92E A9CF AB5B
        AB6A-AB6B FD3E-FD3F FE10-FE19 FE30-FE52 FE54-FE66 FE68-FE6B FEFF FF01-FF20 FF3B-FF40
        FF5B-FF65 FF70 FF9E-FF9F FFE0-FFE6 FFE8-FFEE FFF9-FFFD 10100-10102 10107-10133
        10137-1013F 10190-1019C 101D0-101FC 102E1-102FB 1BCA0-1BCA3 1CC00-1CCF9 1CD00-1CEB3
        1CF50-1CFC3 1D000-1D0F5 1D100-1D126 1D129-1D166 1D16A-1D17A 1D183-1D184 1D18C-1D1A9
        1D1AE-1D1EA 1D2C0-1D2D3 1D2E0-1D2F3 1D300-1D356 1D360-1D378 1D400-1D454 1D456-1D49C
        1D49E-1D49F 1D4A2 1D4A5-1D4A6 1D4A9-1D4AC 1D4AE-1D4B9 1D4BB 1D4BD-1D4C3 1D4C5-1D505
        1D507-1D50A 1D50D-1D514 1D516-1D51C 1D51E-1D539 1D53B-1D53E 1D540-1D544 1D546
        1D54A-1D550 1D552-1D6A5 1D6A8-1D7CB 1D7CE-1D7FF 1EC71-1ECB4 1ED01-1ED3D 1F000-1F02B
        1F030-1F093 1F0A0-1F0AE 1F0B1-1F0BF 1F0C1-1F0CF 1F0D1-1F0F5 1F100-1F1AD 1F1E6-1F1FF
        1F201-1F202 1F210-1F23B 1F240-1F248 1F250-1F251 1F260-1F265 1F300-1F6D7 1F6DC-1F6EC
        1F6F0-1F6FC 1F700-1F776 1F77B-1F7D9 1F7E0-1F7EB 1F7F0 1F800-1F80B 1F810-1F847
        1F850-1F859 1F860-1F887 1F890-1F8AD 1F8B0-1F8BB 1F8C0-1F8C1 1F900-1FA53 1FA60-1FA6D
        1FA70-1FA7C 1FA80-1FA89 1FA8F-1FAC6 1FACE-1FADC 1FADF-1FAE9 1FAF0-1FAF8 1FB00-1FB92
        1FB94-1FBF9 E0001 E0020-E007F
        """,
        "cyrillic": """
        400-484 487-52F 1C80-1C8A 1D2B 1D78 2DE0-2DFF A640-A69F FE2E-FE2F 1E030-1E06D 1E08F
        """,
        "devanagari": """
        900-950 955-963 966-97F A8E0-A8FF 11B00-11B09
        """,
        "ethiopic": """
        1200-1248 124A-124D 1250-1256 1258 125A-125D 1260-1288 128A-128D 1290-12B0 12B2-12B5
        12B8-12BE 12C0 12C2-12C5 12C8-12D6 12D8-1310 1312-1315 1318-135A 135D-137C 1380-1399
        2D80-2D96 2DA0-2DA6 2DA8-2DAE 2DB0-2DB6 2DB8-2DBE 2DC0-2DC6 2DC8-2DCE 2DD0-2DD6
        2DD8-2DDE AB01-AB06 AB09-AB0E AB11-AB16 AB20-AB26 AB28-AB2E 1E7E0-1E7E6 1E7E8-1E7EB
        1E7ED-1E7EE 1E7F0-1E7FE
        """,
        "georgian": """
        10A0-10C5 10C7 10CD 10D0-10FA 10FC-10FF 1C90-1CBA 1CBD-1CBF 2D00-2D25 2D27 2D2D
        """,
        "greek": """
        370-373 375-377 37A-37D 37F 384 386 388-38A 38C 38E-3A1 3A3-3E1 3F0-3FF 1D26-1D2A
        1D5D-1D61 1D66-1D6A 1DBF 1F00-1F15 1F18-1F1D 1F20-1F45 1F48-1F4D 1F50-1F57 1F59 1F5B
        1F5D 1F5F-1F7D 1F80-1FB4 1FB6-1FC4 1FC6-1FD3 1FD6-1FDB 1FDD-1FEF 1FF2-1FF4 1FF6-1FFE
        2126 AB65 10140-1018E 101A0 1D200-1D245
        """,
        "gujarati": """
        A81-A83 A85-A8D A8F-A91 A93-AA8 AAA-AB0 AB2-AB3 AB5-AB9 ABC-AC5 AC7-AC9 ACB-ACD AD0
        AE0-AE3 AE6-AF1 AF9-AFF
        """,
        "gurmukhi": """
        A01-A03 A05-A0A A0F-A10 A13-A28 A2A-A30 A32-A33 A35-A36 A38-A39 A3C A3E-A42 A47-A48
        A4B-A4D A51 A59-A5C A5E A66-A76
        """,
        "han": """
        2E80-2E99 2E9B-2EF3 2F00-2FD5 3005 3007 3021-3029 3038-303B 3400-4DBF 4E00-9FFF
        F900-FA6D FA70-FAD9 16FE2-16FE3 16FF0-16FF1 20000-2A6DF 2A700-2B739 2B740-2B81D
        2B820-2CEA1 2CEB0-2EBE0 2EBF0-2EE5D 2F800-2FA1D 30000-3134A 31350-323AF
        """,
        "hangul": """
        1100-11FF 302E-302F 3131-318E 3200-321E 3260-327E A960-A97C AC00-D7A3 D7B0-D7C6
        D7CB-D7FB FFA0-FFBE FFC2-FFC7 FFCA-FFCF FFD2-FFD7 FFDA-FFDC
        """,
        "hebrew": """
        591-5C7 5D0-5EA 5EF-5F4 FB1D-FB36 FB38-FB3C FB3E FB40-FB41 FB43-FB44 FB46-FB4F
        """,
        "hiragana": """
        3041-3096 309D-309F 1B001-1B11F 1B132 1B150-1B152 1F200
        """,
        "inherited": """
        300-36F 485-486 64B-655 670 951-954 1AB0-1ACE 1CD0-1CD2 1CD4-1CE0 1CE2-1CE8 1CED 1CF4
        1CF8-1CF9 1DC0-1DFF 200C-200D 20D0-20F0 302A-302D 3099-309A FE00-FE0F FE20-FE2D 101FD
        102E0 1133B 1CF00-1CF2D 1CF30-1CF46 1D167-1D169 1D17B-1D182 1D185-1D18B 1D1AA-1D1AD
        E0100-E01EF
        """,
        "kannada": """
        C80-C8C C8E-C90 C92-CA8 CAA-CB3 CB5-CB9 CBC-CC4 CC6-CC8 CCA-CCD CD5-CD6 CDD-CDE
        CE0-CE3 CE6-CEF CF1-CF3
        """,
        "katakana": """
        30A1-30FA 30FD-30FF 31F0-31FF 32D0-32FE 3300-3357 FF66-FF6F FF71-FF9D 1AFF0-1AFF3
        1AFF5-1AFFB 1AFFD-1AFFE 1B000 1B120-1B122 1B155 1B164-1B167
        """,
        "khmer": """
        1780-17DD 17E0-17E9 17F0-17F9 19E0-19FF
        """,
        "lao": """
        E81-E82 E84 E86-E8A E8C-EA3 EA5 EA7-EBD EC0-EC4 EC6 EC8-ECE ED0-ED9 EDC-EDF
        """,
        "latin": """
        41-5A 61-7A AA BA C0-D6 D8-F6 F8-2B8 2E0-2E4 1D00-1D25 1D2C-1D5C 1D62-1D65 1D6B-1D77
        1D79-1DBE 1E00-1EFF 2071 207F 2090-209C 212A-212B 2132 214E 2160-2188 2C60-2C7F
        A722-A787 A78B-A7CD A7D0-A7D1 A7D3 A7D5-A7DC A7F2-A7FF AB30-AB5A AB5C-AB64 AB66-AB69
        FB00-FB06 FF21-FF3A FF41-FF5A 10780-10785 10787-107B0 107B2-107BA 1DF00-1DF1E
        1DF25-1DF2A
        """,
        "malayalam": """
        D00-D0C D0E-D10 D12-D44 D46-D48 D4A-D4F D54-D63 D66-D7F
        """,
        "mongolian": """
        1800-1801 1804 1806-1819 1820-1878 1880-18AA 11660-1166C
        """,
        "myanmar": """
        1000-109F A9E0-A9FE AA60-AA7F 116D0-116E3
        """,
        "oriya": """
        B01-B03 B05-B0C B0F-B10 B13-B28 B2A-B30 B32-B33 B35-B39 B3C-B44 B47-B48 B4B-B4D
        B55-B57 B5C-B5D B5F-B63 B66-B77
        """,
        "sinhala": """
        D81-D83 D85-D96 D9A-DB1 DB3-DBB DBD DC0-DC6 DCA DCF-DD4 DD6 DD8-DDF DE6-DEF DF2-DF4
        111E1-111F4
        """,
        "tamil": """
        B82-B83 B85-B8A B8E-B90 B92-B95 B99-B9A B9C B9E-B9F BA3-BA4 BA8-BAA BAE-BB9 BBE-BC2
        BC6-BC8 BCA-BCD BD0 BD7 BE6-BFA 11FC0-11FF1 11FFF
        """,
        "telugu": """
        C00-C0C C0E-C10 C12-C28 C2A-C39 C3C-C44 C46-C48 C4A-C4D C55-C56 C58-C5A C5D C60-C63
        C66-C6F C77-C7F
        """,
        "thai": """
        E01-E3A E40-E5B
        """,
        "tibetan": """
        F00-F47 F49-F6C F71-F97 F99-FBC FBE-FCC FCE-FD4 FD9-FDA
        """,
    ]
}
