// The texts of this file are those of Google's Agent Development Kit, because models are prompted with them there.
// See NOTICE.

import type { JsonObject } from '../../core/index.ts';
import type { GenerationConfig, ToolDeclaration } from '../../models/index.ts';
import { TRANSFER_TOOL } from '../../tools/internal.ts';

/** What the prompt of an agent states about the agent, its position and its tools, in the words of ADK. */
export interface PromptIdentity {
  readonly agentName: string;
  readonly description: string;
  /** The agents that it may transfer the turn to. */
  readonly targets: readonly { readonly name: string; readonly description: string }[];
  /** The agent that it belongs to, if it may transfer the turn to its parent. */
  readonly parentName?: string;
  /** True if no transfer leads to this agent or away from it. Such an agent has no name. */
  readonly isIsolated: boolean;
  /** True for a tool whose result comes later. */
  readonly isLongRunning: (toolName: string) => boolean;
}

/** The tool with which a model gives its final answer, if it has tools and must answer with a schema. */
export const MODEL_RESPONSE_TOOL = 'set_model_response';

const MODEL_RESPONSE_INSTRUCTION = `To output the final result, you must call the "${MODEL_RESPONSE_TOOL}" function with the appropriate values. Do not output anything else.`;

/** The text before the instruction of the agent; undefined if there is none. */
export function identityInstruction({
  agentName,
  description,
  isIsolated,
}: PromptIdentity): string | undefined {
  if (isIsolated) return undefined;
  const name = `You are an agent. Your internal name is "${agentName}".`;
  return description === '' ? name : `${name}\n\nThe description about you is "${description}"`;
}

/** The text after the instruction of an agent that may transfer the turn; undefined if it may not. */
export function transferInstruction({ targets, parentName }: PromptIdentity): string | undefined {
  if (targets.length === 0) return undefined;
  const agents = targets.map(
    ({ name, description }) => `
Agent name: ${name}
Agent description: ${description}
`,
  );
  const toParent =
    parentName === undefined
      ? ''
      : `
Your parent agent is ${parentName}. If neither the other agents nor
you are best for answering the question according to the descriptions, transfer
to your parent agent.
`;
  return `
You have a list of other agents to transfer to:

${agents.join('\n')}

If you are the best to answer the question according to your description, you
can answer it.

If another agent is better for answering the question according to its
description, call \`${TRANSFER_TOOL}\` function to transfer the
question to that agent. When transferring, do not generate any text other than
the function call.
${toParent}`;
}

/** The result of a transfer call. */
export const TRANSFER_RESULT = 'Transfer queued';

const TRANSFER_DECLARATION: ToolDeclaration = {
  name: TRANSFER_TOOL,
  description:
    'Transfer the question to another agent. This tool hands off control to another agent when it is more suitable to answer the user question according to the agent description.',
  parameters: {
    type: 'object',
    properties: {
      agentName: { type: 'string', description: 'the agent name to transfer to.' },
    },
    required: ['agentName'],
  },
};

const LONG_RUNNING_NOTE =
  'NOTE: This is a long-running operation. Do not call this tool again if it has already returned some intermediate or pending status.';

/** The declarations of an agent's tools, as ADK words them. */
export function identifiedTools(
  tools: readonly ToolDeclaration[],
  { isLongRunning }: PromptIdentity,
): readonly ToolDeclaration[] {
  return tools.map((tool) => {
    if (tool.name === TRANSFER_TOOL) return TRANSFER_DECLARATION;
    if (!isLongRunning(tool.name)) return tool;
    const description = [tool.description, LONG_RUNNING_NOTE].filter((text) => text !== '');
    return { ...tool, description: description.join('\n\n') };
  });
}

/** What an agent with tools and a schema for its answers is asked with. */
export interface ModelResponseRequest {
  readonly tools: readonly ToolDeclaration[];
  readonly config: GenerationConfig | undefined;
  readonly instruction: string | undefined;
}

/**
 * Lets a model that has tools answer by a call of `set_model_response`, because not every model can have tools and a
 * response schema. Without tools or without a schema, nothing changes.
 */
export function withModelResponse(
  tools: readonly ToolDeclaration[],
  config: GenerationConfig | undefined,
): ModelResponseRequest {
  const { responseSchema, ...rest } = config ?? {};
  const isUnchanged =
    responseSchema === undefined ||
    tools.every(({ name }) => name === TRANSFER_TOOL) ||
    tools.some(({ name }) => name === MODEL_RESPONSE_TOOL);
  if (isUnchanged) return { tools, config, instruction: undefined };
  const { json: _, ...settings } = rest;
  return {
    tools: [...tools, toModelResponseTool(responseSchema)],
    config: Object.keys(settings).length === 0 ? undefined : settings,
    instruction: MODEL_RESPONSE_INSTRUCTION,
  };
}

function toModelResponseTool(parameters: JsonObject): ToolDeclaration {
  return {
    name: MODEL_RESPONSE_TOOL,
    description:
      'Call this tool to submit your final response conforming to the output schema. Use this tool only when you have collected all the information and are ready to return the final answer.',
    parameters,
  };
}
