void seen(const int g[1024], const int x[1024], int h[64]) {
    for (int i = 0; i < 1024; i++)
        h[g[i]] = h[g[i]] || x[i];
}
