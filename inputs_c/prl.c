// Record linkage: every new record's best match among the known ones, five attributes weighted by agreement.
// Sizes: 2^15 records each (TOPLAS 2024 fig. 20, PRL: 2^15 to 2^20).
#ifndef I
#define I 32768
#endif
#ifndef J
#define J 32768
#endif

void prl(const int new_name[I], const int new_birth[I], const int new_sex[I], const int new_city[I],
         const int new_code[I], const int name[J], const int birth[J], const int sex[J], const int city[J],
         const int code[J], float score[I], int match[I]) {
  for (int i = 0; i < I; i++) {
    score[i] = -1.0e30f;
    match[i] = -1;
    for (int j = 0; j < J; j++) {
      float weight = new_name[i] == name[j] ? 9.5f : -4.25f;
      weight += new_birth[i] == birth[j] ? 8.0f : -5.5f;
      weight += new_sex[i] == sex[j] ? 1.0f : -6.0f;
      weight += new_city[i] == city[j] ? 4.75f : -1.5f;
      weight += new_code[i] == code[j] ? 5.25f : -2.0f;
      if (weight > score[i]) {
        score[i] = weight;
        match[i] = j;
      }
    }
  }
}
