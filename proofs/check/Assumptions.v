(** What the main theorems rest on: nothing but the prover. `.ci/proofs` reads this file's output. *)

From Luge Require Import PlainTheorem Checker Joined ExtendedTheorem ExtendedChecker PrintedShift SolidArc Endless.
From Luge Require Import CompactTheorem PrintedShiftCompact CompactChecker Wiring ModelChecker.
From Luge Require Import StreamMachine StreamCarrier StreamTheorem StreamChecker Stopping.
From Luge Require Import Mlp MlpDrift MlpTheorem MlpInputs MlpPass MlpSignals MlpPlan MlpSound Derivative CompactKinks Situation.
From Luge Require Encoding Extended CompactSlopes CompactStep.

(* Theorem 1: plain. *)
Print Assumptions plain_step.
Print Assumptions plain_step_encode.
Print Assumptions plain_fixed_point.
Print Assumptions plain_trace.
Print Assumptions plain_noise.
Print Assumptions plain_noisy_trace.
Print Assumptions plain_noise_margin.
Print Assumptions plain_running_low.
Print Assumptions plain_running_level.
Print Assumptions plain_halted_level.
Print Assumptions plain_endless_trace.
Print Assumptions Encoding.within_unique.

(* The checker for plain. *)
Print Assumptions certified_trace.
Print Assumptions certified_levels.

(* Theorem 2: compact. *)
Print Assumptions compact_vertex.
Print Assumptions compact_tapes.
Print Assumptions compact_heads.
Print Assumptions compact_vertex_step.
Print Assumptions compact_step.
Print Assumptions compact_step_encode.
Print Assumptions compact_trace.
Print Assumptions compact_fixed_point.
Print Assumptions compact_running_level.
Print Assumptions compact_halted_level.
Print Assumptions compact_halted_level_all.
Print Assumptions compact_halted_gap.
Print Assumptions compact_halted_below.
Print Assumptions compact_positive.
Print Assumptions CompactStep.tangent_compact.
Print Assumptions CompactSlopes.slope_least.
Print Assumptions CompactSlopes.slope_halted.

(* The checker for compact. *)
Print Assumptions certified_compact_trace.
Print Assumptions certified_compact_levels.

(* Theorem 3: the extended network, for any landscape; plain and compact are such; its checker. *)
Print Assumptions Extended.running_loss.
Print Assumptions Extended.running_tangent.
Print Assumptions first_step.
Print Assumptions extended_running_loss.
Print Assumptions extended_output.
Print Assumptions plain_high.
Print Assumptions plain_low.
Print Assumptions plain_keeps.
Print Assumptions plain_steps.
Print Assumptions compact_high.
Print Assumptions compact_low.
Print Assumptions compact_keeps.
Print Assumptions compact_steps.
Print Assumptions extended_step.
Print Assumptions extended_trace.
Print Assumptions extended_run.
Print Assumptions extended_gradient.
Print Assumptions certified_extended_run.
Print Assumptions certified_without_labels.

(* Models: from the data to the output. *)
Print Assumptions read_only_shows.
Print Assumptions theta_read.
Print Assumptions through_theta.
Print Assumptions certified_model_run.
Print Assumptions reach_bounds.
Print Assumptions certified_stopping_run.

(* Theorem 4: streams. *)
Print Assumptions stream_tangent.
Print Assumptions stream_sgd_step.
Print Assumptions stream_trace.
Print Assumptions stream_trace_static.
Print Assumptions stream_end.
Print Assumptions stands_at_start.
Print Assumptions stands_for_unique.
Print Assumptions taken_and_latched.
Print Assumptions take_after_latch.
Print Assumptions certified_stream_run.
Print Assumptions certified_stream_without_labels.

(* Counterexamples. *)
Print Assumptions printed_shift_is_wrong.
Print Assumptions printed_shift_is_wrong_for_compact.
Print Assumptions solid_arc_drifts.

(* The ordinary MLP: what drift does, and SGD on all weights. *)
Print Assumptions output_moves.
Print Assumptions slope_bound.
Print Assumptions memory_slope_moves.
Print Assumptions mlp_step.
Print Assumptions mlp_trace.
Print Assumptions mlp_memory.
Print Assumptions mlp_output.
Print Assumptions slope_first.
Print Assumptions whole_step.
Print Assumptions whole_output.

(* Exported MLPs. *)
Print Assumptions walk_shows.
Print Assumptions signals_stand.
Print Assumptions plan_sound.
Print Assumptions plan_value.
Print Assumptions plan_speed.
Print Assumptions right_frozen.
Print Assumptions right_answer.
Print Assumptions fitting_mlp_run.
Print Assumptions always_exclusiveP.
Print Assumptions certified_mlp_run.
Print Assumptions halted_rests.

(* The tangent is the derivative; steps by situations. *)
Print Assumptions close_derivative.
Print Assumptions tangent_close.
Print Assumptions gradient_derivative.
Print Assumptions certified_gradient_derivative.
Print Assumptions certified_compact_unkinked.
Print Assumptions certified_compact_gradient_derivative.
Print Assumptions same_next.
Print Assumptions changes_by_situation.
Print Assumptions certified_one_step.
Print Assumptions certified_compact_one_step.
