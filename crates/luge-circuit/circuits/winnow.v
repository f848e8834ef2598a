// Learns a disjunction of bits by Winnow: it says 1 if the weights of the bits that are 1 sum to N or more.
// A weight e stands for 2^(e-1), 0 for 0. A wrong 0 doubles the weights of the bits that are 1, a wrong 1 halves them.
module winnow #(parameter N = 8) (
  input clk, input [N-1:0] x, input y, input [N-1:0] query,
  output next, output halted, output f);
  reg [2:0] weight [N-1:0];
  reg [4:0] right = 0;  // samples in a row that were right
  reg [15:0] sum, answer;
  integer i;
  initial for (i = 0; i < N; i = i + 1) weight[i] = 1;
  always @* begin
    sum = 0;
    answer = 0;
    for (i = 0; i < N; i = i + 1) begin
      if (x[i]) sum = sum + ((16'd1 << weight[i]) >> 1);
      if (query[i]) answer = answer + ((16'd1 << weight[i]) >> 1);
    end
  end
  wire said = sum >= N;
  always @(posedge clk) begin
    for (i = 0; i < N; i = i + 1)
      if (x[i] && y && !said && weight[i] != 7) weight[i] <= weight[i] + 1;
      else if (x[i] && !y && said && weight[i] != 0) weight[i] <= weight[i] - 1;
    right <= said == y ? right + 1 : 0;
  end
  assign next = 1'b1;
  assign halted = &right;
  assign f = answer >= N;
endmodule
