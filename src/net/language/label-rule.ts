/**
 * Declares the labels that the tokens of an output may have. The executor refuses an output with another label, so a proof
 * may rely on it. Several rules for one output all apply.
 */
export interface LabelRule {
  /** The name of the output. Its place has a `label`. */
  readonly output: string;
  /** The alternative of the `oneOf` that has the output. Default: every one. */
  readonly alternative?: string;
  /** The labels that are allowed. Default: all. */
  readonly only?: readonly string[] | undefined;
  /** Labels that occur among others. A property can name them; the executor enforces nothing. Default: those of `only`. */
  readonly known?: readonly string[] | undefined;
  /** The name of an input that takes one token: the output has the label of this token. */
  readonly as?: string;
}

/** Returns the rules for an output of an alternative. Undefined if there are none. */
export function findLabelRules(
  rules: readonly LabelRule[] | undefined,
  alternative: string,
  output: string,
): readonly LabelRule[] | undefined {
  const found = rules?.filter(
    (rule) =>
      rule.output === output &&
      (rule.alternative === undefined || rule.alternative === alternative),
  );
  return found?.length === 0 ? undefined : found;
}
