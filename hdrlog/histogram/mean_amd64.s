//go:build !purego

#include "textflag.h"

// func weigh8(counts *int64, steps int, sums, passed *[8]int64)
//
//	SI        the next eight counts
//	CX        how many steps are left
//	Y0, Y1    the sum of the first, the second and so on of all eights
//	Y2, Y3    the sum of what Y0 and Y1 were after each step
//	DI        scratch
//
// A step reads 64 bytes at SI, while CX is above zero.
TEXT ·weigh8(SB), NOSPLIT, $0-32
	MOVQ  counts+0(FP), SI
	MOVQ  steps+8(FP), CX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	TESTQ CX, CX
	JZ    done

next:
	VPADDQ (SI), Y0, Y0
	VPADDQ 32(SI), Y1, Y1
	VPADDQ Y0, Y2, Y2
	VPADDQ Y1, Y3, Y3
	ADDQ   $64, SI
	DECQ   CX
	JNZ    next

done:
	MOVQ    sums+16(FP), DI
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	MOVQ    passed+24(FP), DI
	VMOVDQU Y2, (DI)
	VMOVDQU Y3, 32(DI)
	VZEROUPPER
	RET
