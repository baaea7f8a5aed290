//go:build !purego

#include "textflag.h"

// func addPages(slots, counts *int64, pages int)
//
//	DI, SI    the next slots and the next counts
//	CX        how many steps of 16 counts are left: four a page
//	Y0 to Y3  scratch: sums
//
// A step reads 128 bytes at DI and SI and writes those at DI, while CX is above zero. So all of them
// are in the pages.
TEXT ·addPages(SB), NOSPLIT, $0-24
	MOVQ slots+0(FP), DI
	MOVQ counts+8(FP), SI
	MOVQ pages+16(FP), CX
	SHLQ $2, CX
	JZ   done

next:
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1
	VMOVDQU 64(SI), Y2
	VMOVDQU 96(SI), Y3
	VPADDQ  (DI), Y0, Y0
	VPADDQ  32(DI), Y1, Y1
	VPADDQ  64(DI), Y2, Y2
	VPADDQ  96(DI), Y3, Y3
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	VMOVDQU Y2, 64(DI)
	VMOVDQU Y3, 96(DI)
	ADDQ    $128, SI
	ADDQ    $128, DI
	DECQ    CX
	JNZ     next

done:
	VZEROUPPER
	RET

// func sumPages(slots, counts *int64, pages int)
//
//	DI, SI    the next slot and the next page of 64 counts
//	CX        how many pages are left
//	DX        how many steps of 16 counts of the page are left
//	AX        scratch
//	Y0, Y1    scratch: sums of four counts
//
// A page reads the 512 bytes at SI and adds to the slot at DI, while CX is above zero.
TEXT ·sumPages(SB), NOSPLIT, $0-24
	MOVQ  slots+0(FP), DI
	MOVQ  counts+8(FP), SI
	MOVQ  pages+16(FP), CX
	TESTQ CX, CX
	JZ    done

page:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	MOVL  $4, DX

next:
	VPADDQ       (SI), Y0, Y0
	VPADDQ       32(SI), Y1, Y1
	VPADDQ       64(SI), Y0, Y0
	VPADDQ       96(SI), Y1, Y1
	ADDQ         $128, SI
	DECL         DX
	JNZ          next
	VPADDQ       Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDQ       X1, X0, X0
	VPSRLDQ      $8, X0, X1
	VPADDQ       X1, X0, X0
	VMOVQ        X0, AX
	ADDQ         AX, (DI)
	ADDQ         $8, DI
	DECQ         CX
	JNZ          page

done:
	VZEROUPPER
	RET
