/** An agent as its contexts and plugins see it. */
export interface DescribedAgent {
  readonly name: string;
  readonly description: string;
  readonly subAgents: readonly DescribedAgent[];
  /** This agent or one below it. */
  readonly findAgent: (name: string) => DescribedAgent | undefined;
}
