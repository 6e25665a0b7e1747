// Deriche's recursive smoothing of an image: there and back along rows, then along columns.
#include <math.h>

#ifndef W
#define W 4096
#endif
#ifndef H
#define H 2160
#endif

void deriche(float alpha, const float in[W][H], float out[W][H], float y1[W][H], float y2[W][H]) {
  float e = expf(-alpha);
  float k = (1.0f - e) * (1.0f - e) / (1.0f + 2.0f * alpha * e - e * e);
  float a1 = k, a2 = k * e * (alpha - 1.0f), a3 = k * e * (alpha + 1.0f), a4 = -k * e * e;
  float b1 = 2.0f * e, b2 = -e * e;
  for (int i = 0; i < W; i++) {
    float x1 = 0.0f, p1 = 0.0f, p2 = 0.0f;
    for (int j = 0; j < H; j++) {
      y1[i][j] = a1 * in[i][j] + a2 * x1 + b1 * p1 + b2 * p2;
      x1 = in[i][j];
      p2 = p1;
      p1 = y1[i][j];
    }
  }
  for (int i = 0; i < W; i++) {
    float x1 = 0.0f, x2 = 0.0f, p1 = 0.0f, p2 = 0.0f;
    for (int j = H - 1; j >= 0; j--) {
      y2[i][j] = a3 * x1 + a4 * x2 + b1 * p1 + b2 * p2;
      x2 = x1;
      x1 = in[i][j];
      p2 = p1;
      p1 = y2[i][j];
    }
  }
  for (int i = 0; i < W; i++)
    for (int j = 0; j < H; j++)
      out[i][j] = y1[i][j] + y2[i][j];
  for (int j = 0; j < H; j++) {
    float x1 = 0.0f, p1 = 0.0f, p2 = 0.0f;
    for (int i = 0; i < W; i++) {
      y1[i][j] = a1 * out[i][j] + a2 * x1 + b1 * p1 + b2 * p2;
      x1 = out[i][j];
      p2 = p1;
      p1 = y1[i][j];
    }
  }
  for (int j = 0; j < H; j++) {
    float x1 = 0.0f, x2 = 0.0f, p1 = 0.0f, p2 = 0.0f;
    for (int i = W - 1; i >= 0; i--) {
      y2[i][j] = a3 * x1 + a4 * x2 + b1 * p1 + b2 * p2;
      x2 = x1;
      x1 = out[i][j];
      p2 = p1;
      p1 = y2[i][j];
    }
  }
  for (int i = 0; i < W; i++)
    for (int j = 0; j < H; j++)
      out[i][j] = y1[i][j] + y2[i][j];
}
