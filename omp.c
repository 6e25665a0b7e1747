#include <omp.h>
#include <stdio.h>
#include <time.h>
int main(){ double t0=omp_get_wtime(); for(int r=0;r<20;r++){ double s=omp_get_wtime(); int n=0; while(omp_get_wtime()-s<0.05){
#pragma omp parallel num_threads(2)
{ volatile double x=0; for(int i=0;i<20000;i++) x+=i; }
n++; } printf("%d ",n);} puts(""); }
