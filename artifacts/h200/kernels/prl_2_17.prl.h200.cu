#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif

extern "C" __global__ void __launch_bounds__(256)
prl_kernel(const int *new_name, const int *new_birth, const int *new_sex, const int *new_city,
        const int *new_code, const int *name, const int *birth, const int *sex, const int *city,
        const int *code, float *score, int *match)
{
    __shared__ __align__(16) int name_SM[256];
    __shared__ __align__(16) int birth_SM[256];
    __shared__ __align__(16) int sex_SM[256];
    __shared__ __align__(16) int city_SM[256];
    __shared__ __align__(16) int code_SM[256];
    __shared__ __align__(16) float meet_f32[256];
    __shared__ __align__(16) int meet_i321[256];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.y * 64 + (int)threadIdx.x;
    const int thr_i = threadIdx.x;
    const int thr_j = threadIdx.y;
    const int blk_i = blockIdx.x;
    // 1: (de-)comp( 64, ^ ) ( ^, ^, ^, ^, ^, ^, ^, ^, ^, ^ ; ^, ^ ) ( BLK.x, ^ )
    float score_RM = -INFINITY;
    int score_RM_pos = 2147483647;
    for (int j_2 = 0; j_2 < 512; ++j_2) {
        // 2: (de-)comp( ^, 256 )
        //             ( ^, ^, ^, ^, ^, name:SM[1], birth:SM[1], sex:SM[1], city:SM[1], code:SM[1] ; score:RM[1], match:RM[1] )
        //             ( ^, FOR.1 )
        __syncthreads();  // name_SM has been read
        if (tid < 64)
            *(int4 *)&name_SM[tid * 4] = *(const int4 *)&name[j_2 * 256 + tid * 4];
        if (tid < 64)
            *(int4 *)&birth_SM[tid * 4] = *(const int4 *)&birth[j_2 * 256 + tid * 4];
        if (tid < 64)
            *(int4 *)&sex_SM[tid * 4] = *(const int4 *)&sex[j_2 * 256 + tid * 4];
        if (tid < 64)
            *(int4 *)&city_SM[tid * 4] = *(const int4 *)&city[j_2 * 256 + tid * 4];
        if (tid < 64)
            *(int4 *)&code_SM[tid * 4] = *(const int4 *)&code[j_2 * 256 + tid * 4];
        // 3: (de-)comp( 1, 64 )
        //             ( ^, ^, ^, ^, ^, ^, ^, ^, ^, ^ ; ^@combine(shared), ^@combine(shared) )
        //             ( THR.x, THR.y )
        __syncthreads();  // birth_SM is filled
        for (int j_4 = 0; j_4 < 64; ++j_4) {
            const float v_score_RM = (new_name[blk_i * 64 + thr_i] == name_SM[thr_j * 64 + j_4] ? 9.5f :
                    -4.25f) + (new_birth[blk_i * 64 + thr_i] == birth_SM[thr_j * 64 + j_4] ? 8.0f : -5.5f) +
                    (new_sex[blk_i * 64 + thr_i] == sex_SM[thr_j * 64 + j_4] ? 1.0f : -6.0f) +
                    (new_city[blk_i * 64 + thr_i] == city_SM[thr_j * 64 + j_4] ? 4.75f : -1.5f) +
                    (new_code[blk_i * 64 + thr_i] == code_SM[thr_j * 64 + j_4] ? 5.25f : -2.0f);
            const int v_score_RM1 = j_2 * 256 + thr_j * 64 + j_4;
            const float h_score_RM = score_RM;
            const int h_score_RM1 = score_RM_pos;
            score_RM = v_score_RM > h_score_RM ? v_score_RM : h_score_RM;
            score_RM_pos = v_score_RM > h_score_RM ? v_score_RM1 : h_score_RM1;
        }
    }
    const int unit = thr_j;
    meet_f32[unit * 64 + thr_i] = score_RM;
    meet_i321[unit * 64 + thr_i] = score_RM_pos;
    __syncthreads();  // meet_f32 is filled
    if (unit < 2) {
        const float mine = meet_f32[unit * 64 + thr_i];
        const int mine_2 = meet_i321[unit * 64 + thr_i];
        const float theirs = meet_f32[unit * 64 + thr_i + 128];
        const int theirs_2 = meet_i321[unit * 64 + thr_i + 128];
        meet_f32[unit * 64 + thr_i] = theirs > mine || (theirs == mine && theirs_2 < mine_2) ? theirs : mine;
        meet_i321[unit * 64 + thr_i] = theirs > mine || (theirs == mine && theirs_2 < mine_2) ? theirs_2 :
                mine_2;
    }
    __syncthreads();  // meet_f32 is filled
    if (unit < 1) {
        const float mine_3 = meet_f32[unit * 64 + thr_i];
        const int mine_4 = meet_i321[unit * 64 + thr_i];
        const float theirs_3 = meet_f32[unit * 64 + thr_i + 64];
        const int theirs_4 = meet_i321[unit * 64 + thr_i + 64];
        meet_f32[unit * 64 + thr_i] = theirs_3 > mine_3 || (theirs_3 == mine_3 && theirs_4 < mine_4) ?
                theirs_3 : mine_3;
        meet_i321[unit * 64 + thr_i] = theirs_3 > mine_3 || (theirs_3 == mine_3 && theirs_4 < mine_4) ?
                theirs_4 : mine_4;
    }
    __syncthreads();  // meet_f32 is filled
    const float whole = meet_f32[thr_i];
    const int whole_2 = meet_i321[thr_i];
    if (thr_j == 0) {
        score[blk_i * 64 + thr_i] = whole > -1e+30f || (whole == -1e+30f && whole_2 < -1) ? whole : -1e+30f;
        match[blk_i * 64 + thr_i] = whole > -1e+30f || (whole == -1e+30f && whole_2 < -1) ? whole_2 : -1;
    }
}
