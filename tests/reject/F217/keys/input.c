void f(float y[8]) { for (int i = 0; i < 8; i++) y[i] = 1; }
