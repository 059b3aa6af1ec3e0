import type { LabelRule } from '../../net/index.ts';
import { LiveTools } from '../../tools/internal.ts';
import type { Tool } from '../../tools/index.ts';

/**
 * The tools whose calls may run without a person: all but those that always need an approval, and external ones.
 * Undefined if the tools can change, as those of a toolset. The tools of a client never run.
 */
export function listRunnableTools(tools: ReadonlyMap<string, Tool>): readonly string[] | undefined {
  return listNames(tools, ({ needsApproval, external }) => needsApproval !== true && !external);
}

/** The tools of the agent whose calls may wait for a person before they run. Undefined if the tools can change. */
export function listWaitingTools(tools: ReadonlyMap<string, Tool>): readonly string[] | undefined {
  return listNames(tools, ({ needsApproval, external }) => needsApproval !== false || external);
}

/** The rule that these outputs are calls of the same tool as an input. */
export function sameTool(as: string, ...outputs: readonly LabelRule[]): readonly LabelRule[] {
  return outputs.map((rule) => ({ ...rule, as }));
}

function listNames(
  tools: ReadonlyMap<string, Tool>,
  selects: (tool: Tool) => boolean,
): readonly string[] | undefined {
  if (tools instanceof LiveTools) return undefined;
  return [...tools].flatMap(([name, tool]) => (selects(tool) ? [name] : []));
}
