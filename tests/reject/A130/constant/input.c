static const int at[20] = {0, 3, 1, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14, 17, 16, 19, 20};
void permute(const float x[20], float y[20]) {
  for (int i = 0; i < 20; i++)
    y[i] = x[at[i]];
}
