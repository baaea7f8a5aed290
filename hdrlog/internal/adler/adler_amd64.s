//go:build !purego

#include "textflag.h"

// The weights of the bytes of a block: 32 down to 1.
DATA weights<>+0(SB)/8, $0x191a1b1c1d1e1f20
DATA weights<>+8(SB)/8, $0x1112131415161718
DATA weights<>+16(SB)/8, $0x090a0b0c0d0e0f10
DATA weights<>+24(SB)/8, $0x0102030405060708
GLOBL weights<>(SB), RODATA|NOPTR, $32

// Sixteen ones of 16 bits.
DATA pairs<>+0(SB)/8, $0x0001000100010001
DATA pairs<>+8(SB)/8, $0x0001000100010001
DATA pairs<>+16(SB)/8, $0x0001000100010001
DATA pairs<>+24(SB)/8, $0x0001000100010001
GLOBL pairs<>(SB), RODATA|NOPTR, $32

// func sums(p *byte, blocks int) (sum, before, weighted uint64)
//
//	SI      the next block
//	CX      blocks that are left
//	Y0      sums of bytes, four of 64 bits
//	Y1      sums of Y0 before each block, four of 64 bits
//	Y2      weighted sums, eight of 32 bits: a block adds at most 4*32*255 to each
//	Y3, Y4  weights, ones
//	Y5      zero
//	Y6, Y7  the block, and what becomes of it
//
// The loop reads 32 bytes at SI as often as there are blocks, and so nothing behind the last one.
// Products of 16 bits do not overflow: two of them add up to at most 255*(32+31).
TEXT ·sums(SB), NOSPLIT, $0-40
	MOVQ    p+0(FP), SI
	MOVQ    blocks+8(FP), CX
	VMOVDQU weights<>(SB), Y3
	VMOVDQU pairs<>(SB), Y4
	VPXOR   Y0, Y0, Y0
	VPXOR   Y1, Y1, Y1
	VPXOR   Y2, Y2, Y2
	VPXOR   Y5, Y5, Y5

next:
	VMOVDQU    (SI), Y6
	VPADDQ     Y0, Y1, Y1
	VPSADBW    Y5, Y6, Y7
	VPADDQ     Y7, Y0, Y0
	VPMADDUBSW Y3, Y6, Y6
	VPMADDWD   Y4, Y6, Y6
	VPADDD     Y6, Y2, Y2
	ADDQ       $32, SI
	DECQ       CX
	JNZ        next

	// Add up what lies side by side.
	VEXTRACTI128 $1, Y0, X6
	VPADDQ       X6, X0, X0
	VPSRLDQ      $8, X0, X6
	VPADDQ       X6, X0, X0
	VMOVQ        X0, sum+16(FP)
	VEXTRACTI128 $1, Y1, X6
	VPADDQ       X6, X1, X1
	VPSRLDQ      $8, X1, X6
	VPADDQ       X6, X1, X1
	VMOVQ        X1, before+24(FP)
	VEXTRACTI128 $1, Y2, X6
	VPADDD       X6, X2, X2
	VPSRLDQ      $8, X2, X6
	VPADDD       X6, X2, X2
	VPSRLDQ      $4, X2, X6
	VPADDD       X6, X2, X2
	VMOVD        X2, AX
	MOVQ         AX, weighted+32(FP)
	VZEROUPPER
	RET
