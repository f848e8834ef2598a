// Finds the bit that every label copies: a bit stays a candidate while it agrees with all labels.
module which_bit #(parameter N = 8) (
  input clk, input [N-1:0] x, input y, input [N-1:0] query,
  output next, output halted, output f);
  reg [N-1:0] candidates = ~0;
  wire [N-1:0] first = candidates & (~candidates + 1'b1);
  always @(posedge clk) candidates <= candidates & ~(x ^ {N{y}});
  assign next = 1'b1;
  assign halted = candidates == first;  // at most one is left
  assign f = |(first & query);
endmodule
