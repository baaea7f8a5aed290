//go:build !purego

#include "go_asm.h"
#include "textflag.h"

#define LOOKUP \
	BZHIL R13, AX, DX; \
	MOVQ  tables_lit(R8)(DX*8), BX

// REFILL makes at least 56 bits valid.
#define REFILL \
	SHLXQ R14, (SI), DX; \
	ORQ   DX, AX; \
	MOVL  R14, DX; \
	NOTL  DX; \
	SHRL  $3, DX; \
	ANDL  $7, DX; \
	ADDQ  DX, SI; \
	ORL   $56, R14

// PASS takes up to two literals and a match.
#define PASS(special) \
	TESTL   $const_entryRare, BX; \
	JNZ     end; \
	RORXQ   $16, BX, DX; \
	MOVW    DX, (DI); \
	RORXQ   $32, BX, CX; \
	MOVBLZX BH, DX; \
	ADDQ    DX, DI; \
	BZHIQ   BX, AX, R15; \
	SHRXQ   CX, R15, R15; \
	MOVBLZX CH, DX; \
	SHRL    $16, CX; \
	ADDQ    R15, CX; \
	MOVQ    DX, R12; \
	SUBL    BX, R14; \
	SHRXQ   BX, AX, AX; \
	LOOKUP; \
	MOVQ    DI, R15; \
	SUBQ    CX, R15; \
	CMPQ    R15, R11; \
	JCS     special; \
	CMPQ    CX, R12; \
	JCS     special; \
	TESTL   R12, R12; \
	CMOVQEQ R11, R15; \
	MOVOU   (R15), X0; \
	MOVOU   X0, (DI); \
	ADDQ    R12, DI

// func fastBMI(s *stream, t *tables) (stop int)
//
//	AX        the next bits of src; those above R14 are from src, or zero
//	R14       how many bits are valid, in the lowest 6 bits
//	BX        the entry of the litlen table for the next bits
//	R12, CX   length and distance
//	DX, R15   scratch; R15 becomes where a match comes from
//	SI, R9    the next bytes of src, and the last place with 8 bytes
//	DI, R10   the next byte of dst, and the last place with 32 bytes
//	R8        the tables
//	R11       the start of dst
//	R13       litBits
//
// A pass reads 8 bytes of src at SI, which is at most R9. It takes two entries: each has at most 23
// bits (codes of 10, 13 extra bits), so 10 bits for the look-up of the next one are left of 56. If the
// entry of a length has no distance, that one takes at most 21 more, and the pass ends. A pass writes
// at DI, which is at most R10: an entry has two literals or one and a match of at most 10 bytes, so the
// first moves DI by at most 11, and the second writes 17 bytes behind that. That is below 32. The bytes
// of a match come from R15, which lies between R11 and DI: 16 bytes from there are in dst, too. Without
// a match, 16 bytes of garbage are written, which the next entry overwrites. They come from the start
// of dst: a read of bytes that were just written would have to wait.
TEXT ·fastBMI(SB), NOSPLIT, $0-24
	MOVQ s+0(FP), DX
	MOVQ t+8(FP), R8
	MOVQ stream_bits(DX), AX
	MOVQ stream_nbits(DX), R14
	MOVQ stream_src+0(DX), SI
	MOVQ stream_src+8(DX), R9
	LEAQ -8(SI)(R9*1), R9
	ADDQ stream_pos(DX), SI
	MOVQ stream_dst+0(DX), R11
	MOVQ stream_dst+8(DX), R10
	LEAQ -32(R11)(R10*1), R10
	MOVQ stream_n(DX), DI
	ADDQ R11, DI
	MOVL $const_litBits, R13

	LOOKUP
	PCALIGN $32
pass:
	CMPQ SI, R9
	JHI  end
	CMPQ DI, R10
	JHI  end
	REFILL
	PASS(special)
	PASS(special)
	JMP pass

special:
	TESTQ CX, CX
	JEQ   far
	CMPQ  R15, R11
	JCS   before
	// The match overlaps itself.
overlap:
	MOVBLZX (R15), DX
	MOVB    DX, (DI)
	INCQ    R15
	INCQ    DI
	DECL    R12
	JNZ     overlap
	JMP     more

far:
	// The entry has no distance.
	MOVBLZX AX, DX
	MOVQ    tables_dist(R8)(DX*8), BX
	TESTQ   BX, BX
	JEQ     stop
	RORXQ   $32, BX, CX
	BZHIQ   BX, AX, R15
	SHRXQ   CX, R15, R15
	SHRL    $16, CX
	ADDQ    R15, CX
	SUBL    BX, R14
	SHRXQ   BX, AX, AX
	MOVQ    DI, R15
	SUBQ    CX, R15
	CMPQ    R15, R11
	JCS     before
	CMPQ    CX, R12
	JCS     overlap
	MOVOU   (R15), X0
	MOVOU   X0, (DI)
	ADDQ    R12, DI
more:
	// Refill before the lookup: fewer than litBits may be there.
	CMPQ SI, R9
	JHI  end
	REFILL
	LOOKUP
	JMP  pass

before:
	MOVQ $-1, R12
	JMP  stop
end:
	XORL R12, R12
stop:
	MOVQ s+0(FP), DX
	MOVQ AX, stream_bits(DX)
	ANDL $63, R14
	MOVQ R14, stream_nbits(DX)
	SUBQ R11, DI
	MOVQ DI, stream_n(DX)
	SUBQ stream_src+0(DX), SI
	MOVQ SI, stream_pos(DX)
	MOVQ R12, stop+16(FP)
	RET

// func fillsBMI(lit, second *uint64, fours int, reversed, syms *uint16, codes, l int, firsts *uint64)
//
//	R8        the table
//	R10, R11  the reversed bits of the next code, and its symbol
//	R12       how many codes are left
//	R13       the entries of symbols
//	R14       the first entry to add, SI the next one
//	R15       one code of l bits, in an entry
//	BX, R9    the step in bytes, once and three times
//	AX        the entry of the code
//	CX        how many times four entries are left
//	DI        where the next entry goes
//	DX        scratch
//
// A code of l bits is below 1<<l. Its last entry is the code + (4*fours-1)<<l, which is below the
// length of the table.
TEXT ·fillsBMI(SB), NOSPLIT, $0-64
	MOVQ lit+0(FP), R8
	MOVQ second+8(FP), R14
	MOVQ reversed+24(FP), R10
	MOVQ syms+32(FP), R11
	MOVQ codes+40(FP), R12
	MOVQ l+48(FP), CX
	MOVQ firsts+56(FP), R13
	MOVQ CX, R15
	SHLQ $32, R15
	ORQ  CX, R15     // sized(l)
	MOVL $8, BX
	SHLQ CX, BX      // the step, in bytes
	LEAQ (BX)(BX*2), R9

code:
	MOVWLZX (R10), DI
	LEAQ    (R8)(DI*8), DI
	MOVWLZX (R11), AX
	MOVQ    (R13)(AX*8), AX
	ADDQ    R15, AX
	MOVQ    R14, SI
	MOVQ    fours+16(FP), CX

four:
	MOVQ (SI), DX
	ADDQ AX, DX
	MOVQ DX, (DI)
	MOVQ 8(SI), DX
	ADDQ AX, DX
	MOVQ DX, (DI)(BX*1)
	MOVQ 16(SI), DX
	ADDQ AX, DX
	MOVQ DX, (DI)(BX*2)
	MOVQ 24(SI), DX
	ADDQ AX, DX
	MOVQ DX, (DI)(R9*1)
	LEAQ (DI)(BX*4), DI
	ADDQ $32, SI
	DECQ CX
	JNZ  four
	ADDQ $2, R10
	ADDQ $2, R11
	DECQ R12
	JNZ  code
	RET
