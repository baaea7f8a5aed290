//go:build !purego

#include "textflag.h"

// func checkBlocks(encoded *byte, blocks int) (done int, ran, all uint64)
//
//	SI        the next block of 32 bytes
//	CX, DX    how many blocks there are, and how many were passed
//	AX        scratch
//	Y1        zero
//	Y3, Y4    a 1, and the number without sign, in each byte
//	Y2, Y5    sums of runs, one less each, and of all numbers, in four parts
//	Y6, Y7    scratch: the numbers of the block, and those of runs
//
// A pass reads the 32 bytes at SI, while DX is less than CX. So all of them are in the blocks.
TEXT ·checkBlocks(SB), NOSPLIT, $0-40
	MOVQ         encoded+0(FP), SI
	MOVQ         blocks+8(FP), CX
	XORL         DX, DX
	MOVQ         $0x0101010101010101, AX
	VMOVQ        AX, X3
	VPBROADCASTQ X3, Y3
	MOVQ         $0x3f3f3f3f3f3f3f3f, AX
	VMOVQ        AX, X4
	VPBROADCASTQ X4, Y4
	VPXOR        Y1, Y1, Y1
	VPXOR        Y2, Y2, Y2
	VPXOR        Y5, Y5, Y5

block:
	CMPQ      DX, CX
	JGE       end
	VMOVDQU   (SI), Y6
	VPMOVMSKB Y6, AX
	TESTL     AX, AX
	JNZ       end // a number goes on
	VPAND     Y3, Y6, Y7
	VPCMPEQB  Y3, Y7, Y7 // all ones for a run
	VPSRLW    $1, Y6, Y6
	VPAND     Y4, Y6, Y6
	VPAND     Y6, Y7, Y7
	VPSADBW   Y1, Y6, Y6
	VPADDQ    Y6, Y5, Y5
	VPSADBW   Y1, Y7, Y7
	VPADDQ    Y7, Y2, Y2
	ADDQ      $32, SI
	INCQ      DX
	JMP       block

end:
	MOVQ         DX, done+16(FP)
	VEXTRACTI128 $1, Y2, X0
	VPADDQ       X0, X2, X2
	VPSRLDQ      $8, X2, X0
	VPADDQ       X0, X2, X2
	VMOVQ        X2, ran+24(FP)
	VEXTRACTI128 $1, Y5, X0
	VPADDQ       X0, X5, X5
	VPSRLDQ      $8, X5, X0
	VPADDQ       X0, X5, X5
	VMOVQ        X5, all+32(FP)
	VZEROUPPER
	RET
