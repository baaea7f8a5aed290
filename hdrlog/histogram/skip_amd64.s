//go:build !purego

#include "textflag.h"

// func skip32(counts *int64, groups int, seen, rank int64) (done int, now int64)
//
//	SI        the next group of 32 counts
//	CX, DX    how many groups there are, and how many were passed
//	AX, BX    the sum of all counts before SI, and where to stop
//	R8        scratch
//	Y0, Y1    scratch: sums of four counts
//
// A pass reads the 256 bytes at SI, while DX is less than CX. So all of them are in the groups.
TEXT ·skip32(SB), NOSPLIT, $0-48
	MOVQ counts+0(FP), SI
	MOVQ groups+8(FP), CX
	MOVQ seen+16(FP), AX
	MOVQ rank+24(FP), BX
	XORL DX, DX

next:
	CMPQ         DX, CX
	JGE          done
	VMOVDQU      (SI), Y0
	VMOVDQU      32(SI), Y1
	VPADDQ       64(SI), Y0, Y0
	VPADDQ       96(SI), Y1, Y1
	VPADDQ       128(SI), Y0, Y0
	VPADDQ       160(SI), Y1, Y1
	VPADDQ       192(SI), Y0, Y0
	VPADDQ       224(SI), Y1, Y1
	VPADDQ       Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDQ       X1, X0, X0
	VPSRLDQ      $8, X0, X1
	VPADDQ       X1, X0, X0
	VMOVQ        X0, R8
	ADDQ         AX, R8
	CMPQ         R8, BX
	JGE          done
	MOVQ         R8, AX
	ADDQ         $256, SI
	INCQ         DX
	JMP          next

done:
	MOVQ DX, done+32(FP)
	MOVQ AX, now+40(FP)
	VZEROUPPER
	RET
