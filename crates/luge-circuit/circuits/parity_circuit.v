// Learns which bits a parity counts, by Gauss-Jordan elimination, one sample a cycle.
// Row i, once there, has its pivot at bit i and 0 at the pivots of all other rows.
module parity_circuit #(parameter N = 8) (
  input clk, input [N-1:0] x, input y, input [N-1:0] query,
  output next, output halted, output f);
  reg [N*(N+1)-1:0] rows = 0;   // row i: N coefficients and the label
  reg [N-1:0] known = 0;        // whether row i is there
  reg [N*(N+1)-1:0] after;
  reg [N:0] sample;             // the sample, reduced by all rows
  reg [N-1:0] pivot;            // its lowest bit
  reg answer;
  integer i;
  always @* begin
    sample = {y, x};
    for (i = 0; i < N; i = i + 1)
      if (x[i]) sample = sample ^ rows[i*(N+1) +: N+1];
    pivot = sample[N-1:0] & (~sample[N-1:0] + 1'b1);
    after = rows;
    for (i = 0; i < N; i = i + 1)
      if (pivot[i]) after[i*(N+1) +: N+1] = sample;
      else if (|(rows[i*(N+1) +: N] & pivot))
        after[i*(N+1) +: N+1] = rows[i*(N+1) +: N+1] ^ sample;
    answer = 0;
    for (i = 0; i < N; i = i + 1)
      answer = answer ^ (query[i] & rows[i*(N+1) + N]);
  end
  always @(posedge clk) begin
    rows <= after;
    known <= known | pivot;
  end
  assign next = 1'b1;
  assign halted = &known;
  assign f = answer;
endmodule
