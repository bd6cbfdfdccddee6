/* All-reduces of MPI: mpi_peer ELEMENTS ROUNDS FILE; rank 0 writes microseconds, one a call, as JSON,
 * and then says `reduced`. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WARM_ROUNDS = 3 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, processes = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 1);
  const int elements = atoi(argv[1]), rounds = atoi(argv[2]);
  float* in = malloc(sizeof(float) * (size_t)elements);
  float* out = malloc(sizeof(float) * (size_t)elements);
  double* samples_us = malloc(sizeof(double) * (size_t)(WARM_ROUNDS + rounds));
  for (int i = 0; i < elements; ++i) in[i] = 1;
  for (int round = 0; round < WARM_ROUNDS + rounds; ++round) {
    const double begin_s = MPI_Wtime();
    MPI_Allreduce(in, out, elements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    samples_us[round] = (MPI_Wtime() - begin_s) * 1e6;
  }
  if (out[0] != (float)processes || out[elements - 1] != (float)processes) {
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (rank == 0) {
    FILE* file = fopen(argv[3], "w");
    if (!file) MPI_Abort(MPI_COMM_WORLD, 3);
    for (int round = 0; round < rounds; ++round) {
      fprintf(file, "%s%.3f", round == 0 ? "[" : ",", samples_us[WARM_ROUNDS + round]);
    }
    fprintf(file, "]\n");
    fclose(file);
    printf("reduced\n");
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
