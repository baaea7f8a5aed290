//go:build !purego

#include "textflag.h"

// ADD adds the count at offset n of the frame to the slot at DI, and moves DI by the step in a
// byte of AX.
#define ADD(n, step) \
	MOVBLZX n(SP), R13    \
	ADDQ    R13, (DI)     \
	MOVBLZX step, SI     \
	LEAQ    (DI)(SI*8), DI

// func addEightsBMI(slot, lastSlot *int64, encoded, lastEncoded *byte) (done, slots int, total int64)
//
//	R12, CX   the next number, and the last place to begin a step at
//	DI, DX    the next slot, and the last place to begin a step at
//	AX        eight encoded numbers, and then their steps: 1 for a count, n for a run of n
//	BX        a 1 for each number of the step
//	R8        the highest bit of each byte, which says that the number has more bytes
//	R9, R10   the number without sign, and a 1, in each byte
//	R11       a mask of the runs
//	SI, R13   scratch (bytes of AX do not move to R8 and above); the frame has the eight counts, 0
//	          for a run
//	R14       how many bits the numbers of the step have: 64, or less before a number of several bytes
//	X0, X1    scratch, zero
//	X2        the sum of all counts
//
// A step reads 8 bytes at R12, which is at most lastEncoded. It adds to eight slots, the last of
// which is at most 7*64 behind DI, since a number of one byte moves DI by at most 64 slots. DI is at
// most lastSlot, which has 8*64 slots. Numbers that a step does not take are zero: they add 0 to the
// slot at DI and do not move it.
TEXT ·addEightsBMI(SB), NOSPLIT, $8-56
	MOVQ  slot+0(FP), DI
	MOVQ  lastSlot+8(FP), DX
	MOVQ  encoded+16(FP), R12
	MOVQ  lastEncoded+24(FP), CX
	MOVQ  $0x8080808080808080, R8
	MOVQ  $0x3f3f3f3f3f3f3f3f, R9
	MOVQ  $0x0101010101010101, R10
	VPXOR X1, X1, X1
	VPXOR X2, X2, X2

next:
	CMPQ  R12, CX
	JHI   done
	CMPQ  DI, DX
	JHI   done
	MOVQ  (R12), AX
	MOVQ  R10, BX
	MOVL  $64, R14
	TESTQ R8, AX
	JNZ   fewer

step:
	MOVQ    AX, SI
	ANDQ    R10, SI
	MOVQ    SI, R11
	SHLQ    $8, R11
	SUBQ    SI, R11 // the lowest bit of each byte times 0xff
	SHRQ    $1, AX
	ANDQ    R9, AX
	ANDNQ   AX, R11, R13
	MOVQ    R13, 0(SP)
	VMOVQ   R13, X0
	VPSADBW X1, X0, X0
	VPADDQ  X0, X2, X2
	ANDQ    R11, AX
	ADDQ    BX, AX
	ADD(0, AL)
	ADD(1, AH)
	SHRQ    $16, AX
	ADD(2, AL)
	ADD(3, AH)
	SHRQ    $16, AX
	ADD(4, AL)
	ADD(5, AH)
	SHRQ    $16, AX
	ADD(6, AL)
	ADD(7, AH)
	SHRL    $3, R14
	ADDQ    R14, R12
	CMPL    R14, $8
	JEQ     next

done:
	SUBQ  slot+0(FP), DI
	SHRQ  $3, DI
	SUBQ  encoded+16(FP), R12
	MOVQ  R12, done+32(FP)
	MOVQ  DI, slots+40(FP)
	VMOVQ X2, total+48(FP)
	RET

fewer:
	// Only the bytes before the first number of several bytes.
	MOVQ   AX, R14
	ANDQ   R8, R14
	TZCNTQ R14, R14
	SUBL   $7, R14
	JEQ    done
	BZHIQ  R14, AX, AX
	BZHIQ  R14, BX, BX
	JMP    step
