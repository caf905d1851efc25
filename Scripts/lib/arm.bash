# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by Scripts/check-arm, which sets scripts, temporary, golden, reference, plain, machine and failed.

# Package.swift gives the target no settings, so these are SwiftPM's of a release. Warnings are errors, as everywhere;
# the compiler would warn of wide vectors that pass between functions, which are always inlined.
arm_flags=(-O2 -Wall -Wextra -Werror -Wno-psabi)

# What does not compute, or is called by every kernel.
no_kernels="skein_bf16_allocate skein_bf16_bytes skein_bf16_free skein_bf16_kernel_name skein_bf16_panel
    skein_bf16_stride skein_elementwise_fused skein_has_amx_int8 skein_int8_blocks skein_int8_bytes skein_int8_panel skein_int8_stride
    skein_keep_freed_memory skein_lowrank_stride skein_pause skein_product_depth"

# MACHINE LEVEL KERNEL: whether bits other than AVX2's are stated for it, and where.
is_stated() {
    case "$1 $2 $3" in
    # matvec.h: below AVX2 x86 generates text with the plain kernels, because fmaf is slow.
    "x86_64 fused skein_matvec" | "x86_64 fused skein_matvec_rows" | "x86_64 fused skein_attend") ;;
    "x86_64 fused skein_attend_heads" | "x86_64 fused skein_attend_cached") ;;
    # bf16.h: there the plain kernel runs, which makes zeros of products below 2^-126, too.
    "x86_64 fused skein_bf16_multiply") [[ $4 == *wide=1* || $4 == *tiny=* ]] ;;
    # multiply_flushing in bf16.c: Arm decides before it rounds what is subnormal.
    "aarch64 "*" skein_bf16_multiply_edge") ;;
    *) return 1 ;;
    esac
}

complain() {
    failed=1
    printf 'error: %s\n' "$1" >&2
}

# Sets clang: Swift's, or the one of the PATH if it is as new.
find_clang() {
    local swift
    swift=$(command -v swift) || die "there is no swift" "run Scripts/setup"
    clang=$(dirname "$(realpath "$swift")")/clang
    [[ -x $clang ]] || clang=clang
    echo 'typedef float v __attribute__((vector_size(16))); v f(v a) { return __builtin_elementwise_fma(a, a, a); }' |
        "$clang" -x c -fsyntax-only - 2>/dev/null || die "$clang lacks __builtin_elementwise_fma" "run Scripts/setup"
}

install_emulator() {
    local as_root=()
    ! command -v qemu-aarch64 >/dev/null || ! command -v aarch64-linux-gnu-objdump >/dev/null ||
        [[ ! -e /usr/aarch64-linux-gnu/lib/libc.a ]] || return 0
    command -v apt-get >/dev/null || die "there is no cross compiler for aarch64, or no qemu-aarch64, and no apt-get" \
        "install both with this system's package manager" 69
    if [[ $(id -u) != 0 ]]; then
        command -v sudo >/dev/null || die "this is not root, and there is no sudo" \
            "as root, run: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user" 69
        as_root=(sudo)
    fi
    echo "installing gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user" >&2
    "${as_root[@]}" apt-get update --quiet >&2 || echo "going on with the list of packages that is here" >&2
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends \
        gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user >&2 || die "apt-get fails" "see its messages above"
}

# Fails if a function of the headers is not called by the driver.
check_names() {
    local name
    for name in $(grep -ohE '\bskein_[a-z0-9_]+\(' "$root"/Sources/CSkeinKernels/include/*.h | tr -d '(' | sort -u); do
        [[ " ${no_kernels//[$'\n']/ } " == *" $name "* ]] || grep -qw "$name" "$scripts"/arm/*.c ||
            complain "no line of Scripts/arm calls $name"
    done
}

# native|arm FOLDER FILE...: compiles into FOLDER, JOBS files at a time.
compile() {
    local target=() sources=$root/Sources folder=$2
    [[ $1 == native ]] || target=(--target=aarch64-linux-gnu)
    # shellcheck disable=SC2016
    printf '%s\n' "${@:3}" | xargs -P "${JOBS:-$(nproc)}" -I '{}' bash -c '
        object=$1/$(basename "$(dirname "$2")")-$(basename "$2" .c).o
        exec "${@:3}" -c "$2" -o "$object"' _ "$folder" '{}' "$clang" "${target[@]}" "${arm_flags[@]}" \
        -I"$sources/CSkeinKernels/include" -I"$sources/CSkeinHashes/include" -I"$scripts/arm"
}

# native|arm PROGRAM OBJECT...
link() {
    local target=()
    [[ $1 == native ]] || target=(--target=aarch64-linux-gnu -fuse-ld=lld)
    "$clang" -static "${target[@]}" "${@:3}" -lm -o "$2"
}

# native|arm: builds the driver unless it is there; sets built and objects.
build_driver() {
    local digest files=("$root"/Sources/CSkein{Kernels,Hashes}/*.c "$scripts"/arm/*.c)
    digest=$({ "$clang" --version && echo "${arm_flags[@]}" &&
        cat "${files[@]}" "$root"/Sources/CSkeinKernels/*.h "$root"/Sources/CSkein{Kernels,Hashes}/include/*.h \
            "$scripts"/arm/*.h; } | sha256sum)
    objects=$cache/arm/$1-${digest:0:16}
    built=$objects/kernels
    lock "$cache/arm/$1"
    [[ -x $built ]] && return
    rm -rf "$cache/arm/$1"-*
    mkdir -p "$objects"
    compile "$1" "$objects" "${files[@]}"
    link "$1" "$built.new" "$objects"/*.o
    mv "$built.new" "$built"
}

# Fails if Arm's objects call fmaf, fuse one number at a time, or have an instruction where not every processor has it.
check_instructions() {
    local found
    found=$(aarch64-linux-gnu-objdump -dr --no-show-raw-insn "$objects"/CSkeinKernels-*.o | awk '
        /^[0-9a-f]+ </ { name = $2 }
        /R_AARCH64_(CALL|JUMP)26[[:space:]]+fmaf?$/ { print name, "calls fmaf" }
        $2 ~ /^fn?m(add|sub)$/ { print name, "fuses one number at a time" }
        $2 ~ /^[su]dot$/ && name !~ /dotprod>:$/ { print name, "has SDOT" }
        $2 ~ /mmla$/ && name !~ /i8mm>:$/ { print name, "has USMMLA" }
        $2 == "sdot" { dots++ } $2 == "usmmla" { matrices++ } $2 == "fmla" { fused++ }
        END { if (!dots || !matrices || fused < 1000) print "no object has SDOT, USMMLA or FMLA" }' | sort -u)
    [[ -z $found ]] || complain "aarch64 objects: $found"
}

# FILE: prints a hash for each kernel, over all of its lines.
digests() {
    local name
    cut -d ' ' -f 1 "$1" | sort -u | while read -r name; do
        printf '%s %d %s\n' "$name" "$(grep -c "^$name " "$1")" "$(grep "^$name " "$1" | sha256sum | cut -c 1-16)"
    done
}

# EXPECTED FOUND: prints the names and shapes of lines that differ.
differences() {
    { diff "$1" "$2" || (($? == 1)); } | sed -n 's/^[<>] \([^ ]* [^ ]*\) .*/\1/p' | sort -u
}

# WHAT [STATED]: of the file of differences, prints how many lines each kernel has, and fails if there are any.
report() {
    local count
    count=$(wc -l <"$temporary/differences")
    if ((count == 0)); then
        printf '%s: equal bits%s\n' "$1" "${2:+, but for what is stated of $2}"
        return
    fi
    complain "$1: $count results differ: $(cut -d ' ' -f 1 "$temporary/differences" | sort | uniq -c |
        sed 's/^ *\([0-9]*\) \(.*\)/\2 (\1)/' | paste -sd ' ')"
    head -n 5 "$temporary/differences" | sed 's/^/  /' >&2
}

# FILE WHAT MACHINE LEVEL: compares lines with AVX2's, or with the hashes that AVX2's had.
compare() {
    local name shape stated=()
    if [[ -z $reference ]]; then
        digests "$1" >"$temporary/digests"
        compare_digests "$temporary/digests" "$2" "$3" "$4"
        return
    fi
    differences "$reference" "$1" >"$temporary/all"
    : >"$temporary/differences"
    while read -r name shape; do
        if is_stated "$3" "$4" "$name" "$shape"; then
            [[ " ${stated[*]-} " == *" $name "* ]] || stated+=("$name")
        else
            echo "$name $shape" >>"$temporary/differences"
        fi
    done <"$temporary/all"
    report "$2, $(wc -l <"$1") results of $(cut -d ' ' -f 1 "$1" | sort -u | wc -l) kernels, and AVX2" "${stated[*]-}"
}

# FILE WHAT [MACHINE LEVEL]: compares hashes of kernels with those of Scripts/arm/kernels.txt.
compare_digests() {
    local name
    : >"$temporary/differences"
    for name in $({ diff "$golden" "$1" || (($? == 1)); } | sed -n 's/^[<>] \([^ ]*\) .*/\1/p' | sort -u); do
        is_stated "${3-}" "${4-}" "$name" wide=1 || echo "$name all" >>"$temporary/differences"
    done
    report "$2, and Scripts/arm/kernels.txt"
}

# Changes kernels for Arm, one change at a time, and fails if one goes unnoticed.
try_mutations() {
    local lanes='return __builtin_elementwise_fma(a, b, c)' twice='return a * b + c'
    mutate "fp32 products round twice" fused skein_multiply product product_body.h \
        'sum\[r\]\[v\] = __builtin_elementwise_fma(one, row\[v\], sum\[r\]\[v\])' 'sum[r][v] += one * row[v]'
    mutate "thin products round twice" fused skein_lowrank_reduce lowrank elementwise_lanes.h "$lanes" "$twice"
    mutate "text generation rounds twice" fused skein_matvec matvec matvec_body.h "$lanes" "$twice"
    mutate "the compiler fuses what it likes" fused skein_softmax elementwise elementwise.c \
        '#pragma STDC FP_CONTRACT OFF' '#pragma clang fp contract(fast)'
    mutate "bf16 products round twice" fused skein_bf16_multiply bf16_product bf16_body.h \
        'sum\[r\]\[v\] = __builtin_elementwise_fma(w\[v\], one, sum\[r\]\[v\])' 'sum[r][v] += w[v] * one'
    mutate "subnormal numbers stay" fused skein_bf16_multiply bf16 bf16.c 'flush = 1 << 24' 'flush = 0'
    mutate "attention divides by an estimate" fused skein_attention_forward attention_rows attention_rows_body.h \
        'const float inverse = 1 / sums\[r\];' 'const float inverse = __builtin_neon_vrecpes_f32(sums[r]);'
    mutate "a scale is made by a reciprocal" fused skein_int8_quantize int8_quantize int8_quantize_body.h \
        'most / 127 \* 0x1p-3f' 'most * (1.0f / 127) * 0x1p-3f'
    mutate "SMULL takes half of x" fused skein_int8_multiply int8_product int8_product_body.h \
        'vmull_s8(p, x)' 'vmull_s8(p, vshr_n_s8(x, 1))'
    mutate "SDOT takes p + 128 for p" dotprod skein_int8_multiply int8_product int8_product_body.h \
        'vld1q_u8(p), vdupq_n_u8(0x80)' 'vld1q_u8(p), vdupq_n_u8(0)'
    mutate "USMMLA takes two columns twice" i8mm skein_int8_multiply int8_product int8_product_body.h \
        'vzip1q_u32(a, b)' 'vzip2q_u32(a, b)'
    mutate "SDOT is taken where there is none" dotprod levels cpu cpu.c 'dot = 1ul << 20' 'dot = 1ul << 0'
}

# WORDS LEVEL KERNEL SOURCE FILE FROM TO: changes FILE, compiles SOURCE, and fails unless KERNEL differs at LEVEL.
mutate() {
    local words=$1 level=$2 kernel=$3 source=$4 file=$5 folder=$temporary/mutant seen=1
    rm -rf "$folder"
    mkdir -p "$folder/objects"
    cp -r "$root/Sources/CSkeinKernels" "$folder"
    sed -i "s|$6|$7|" "$folder/CSkeinKernels/$file"
    ! cmp -s "$folder/CSkeinKernels/$file" "$root/Sources/CSkeinKernels/$file" ||
        die "$file has no \"$6\" to change" "change something else in Scripts/lib/arm.bash"
    cp "$objects"/*.o "$folder/objects"
    compile arm "$folder/objects" "$folder/CSkeinKernels/$source.c"
    link arm "$folder/kernels" "$folder"/objects/*.o
    if [[ $kernel == levels ]]; then
        [[ $(qemu-aarch64 -cpu cortex-a72 "$folder/kernels") == *"$level"* ]] || seen=''
    else
        qemu-aarch64 -cpu max "$folder/kernels" "$level" >"$temporary/changed" ||
            die "changed kernels end with $?: $words" "change something else in Scripts/lib/arm.bash"
        differences "$reference" "$temporary/changed" | grep "^$kernel " >/dev/null || seen=''
    fi
    if [[ -n $seen ]]; then
        echo "changed, and seen in $kernel at $level: $words"
    else
        complain "a change goes unnoticed: $words"
    fi
}
