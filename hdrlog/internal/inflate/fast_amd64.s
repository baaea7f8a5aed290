//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// func fastBMI(s *stream, t *tables) (stop int)
//
//	AX        the next bits of src; those above BX are from src, or zero
//	BX        how many bits are valid
//	CX        the entry of the litlen table for the next bits, and then the length of its match
//	DX, R15   scratch; DX becomes the distance, and R15 where a match comes from
//	SI, R9    the next bytes of src, and the last place with 8 bytes
//	DI, R10   the next byte of dst, and the last place with 17 bytes
//	R8        the tables
//	R11       the start of dst
//	R12       the entry of the distance table
//	R13       all ones if there is a match, else 0
//	R14       the next entry of the litlen table
//
// A pass reads 8 bytes of src at SI, which is at most R9. It writes at DI, which is at most R10: two
// bytes of literals, one of which counts if there is a match, and behind them 8 or 16 bytes of a
// match. That is 17 bytes. A match of the tables has at most 10 bytes, so 16 are enough. The bytes
// of a match come from R15, which lies between R11 and DI: 16 bytes from there are in dst, too. The
// tables have an entry for each index of 11 or 8 bits.
TEXT ·fastBMI(SB), NOSPLIT, $0-24
	MOVQ s+0(FP), DX
	MOVQ t+8(FP), R8
	MOVQ stream_bits(DX), AX
	MOVQ stream_nbits(DX), BX
	MOVQ stream_src+0(DX), SI
	MOVQ stream_src+8(DX), R9
	LEAQ -8(SI)(R9*1), R9
	ADDQ stream_pos(DX), SI
	MOVQ stream_dst+0(DX), R11
	MOVQ stream_dst+8(DX), R10
	LEAQ -17(R11)(R10*1), R10
	MOVQ stream_n(DX), DI
	ADDQ R11, DI
	MOVL AX, R14
	ANDL $const_litMask, R14
	MOVL tables_lit(R8)(R14*4), R14
	PCALIGN $32

pass:
	CMPQ SI, R9
	JHI  end
	CMPQ DI, R10
	JHI  end

	// Refill: at least 56 bits are valid then. A pass takes at most 32.
	SHLXQ BX, (SI), DX
	ORQ   DX, AX
	MOVL  BX, DX
	XORL  $63, DX
	SHRL  $3, DX
	ADDQ  DX, SI
	ORL   $56, BX
	TESTL $const_entryRare, R14
	JNZ   end

	// Up to two literals.
	MOVL    R14, CX
	MOVLQSX R14, R13
	SARQ    $63, R13
	MOVL    CX, DX
	SHRL    $8, DX
	MOVW    DX, (DI)
	MOVL    CX, DX
	SHRL    $6, DX
	ANDL    $3, DX
	ADDQ    DX, DI
	SHRXQ   CX, AX, AX

	// The distance: 0 if there is no match, or no entry.
	MOVBLZX AX, DX
	MOVQ    tables_dist(R8)(DX*8), R12
	ANDQ    R13, R12
	MOVQ    R12, DX
	SHRQ    $32, DX
	ANDQ    AX, DX  // code and extra bits
	MOVL    R12, R15
	SHRL    $8, R15
	SHRXQ   R15, DX, DX
	MOVL    R12, R15
	SHRL    $16, R15
	ADDQ    R15, DX

	// What was taken is in the lowest 6 bits of both entries.
	SUBL  CX, BX
	SUBL  R12, BX
	ANDL  $63, BX
	SHRXQ R12, AX, AX
	MOVL  AX, R14
	ANDL  $const_litMask, R14
	MOVL  tables_lit(R8)(R14*4), R14
	SHRL  $24, CX
	ANDL  $15, CX

	MOVQ DI, R15
	SUBQ DX, R15
	CMPQ R15, R11
	JCS  special
	CMPQ DX, CX
	JCS  special

	// Without a match, the bytes are garbage, which the next pass overwrites. They come from the
	// start of dst: a read of bytes that were just written would have to wait.
	TESTQ   R13, R13
	CMOVQEQ R11, R15
	MOVQ    (R15), DX
	MOVQ    DX, (DI)
	CMPL    CX, $8
	JHI     long
	ADDQ    CX, DI
	JMP     pass

long:
	MOVQ 8(R15), DX
	MOVQ DX, 8(DI)
	ADDQ CX, DI
	JMP  pass

special:
	TESTQ DX, DX
	JEQ   stop // the bits of the distance are still there
	CMPQ  R15, R11
	JCS   before

	// The match overlaps itself.
again:
	MOVBLZX (R15), DX
	MOVB    DX, (DI)
	INCQ    R15
	INCQ    DI
	DECL    CX
	JNZ     again
	JMP     pass

before:
	MOVQ $-1, CX
	JMP  stop

end:
	XORL CX, CX

stop:
	MOVQ s+0(FP), DX
	MOVQ AX, stream_bits(DX)
	MOVQ BX, stream_nbits(DX)
	SUBQ R11, DI
	MOVQ DI, stream_n(DX)
	SUBQ stream_src+0(DX), SI
	MOVQ SI, stream_pos(DX)
	MOVQ CX, stop+16(FP)
	RET
