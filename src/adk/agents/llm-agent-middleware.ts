import type { Json, JsonObject } from '../../core/index.ts';
import { toJsonSchema } from '../../tools/index.ts';
import type { ToolParameters, Toolset } from '../../tools/index.ts';
import { appendInstruction, readFinalText } from '../contracts/model-middleware.ts';
import type { ModelMiddleware } from '../contracts/model-middleware.ts';
import type { BasePlanner } from './base-planner.ts';
import type { ToolInfo } from '../contracts/agent-callbacks.ts';
import type { CallbackContext } from '../contracts/contexts.ts';
import type { ToolFilter } from '../tools/base-toolset.ts';
import { createOutputParser } from './output-parser.ts';

/** Offers only the tools of a set that the filter allows, and rejects calls of the others. */
export function toolFilterMiddleware(set: Toolset, filter: ToolFilter): ModelMiddleware {
  const names = new Set(set.tools().map((one) => one.name));
  const isAllowed = (one: ToolInfo, context: CallbackContext): boolean =>
    !names.has(one.name) ||
    (typeof filter === 'function' ? filter(one, context) : filter.includes(one.name));
  return {
    before: ({ context, request }) => {
      request.tools = request.tools.filter((one) => isAllowed(one, context));
    },
    rejectToolCall: ({ context, tool: called }) =>
      isAllowed(called, context)
        ? undefined
        : {
            error: {
              code: 'not_found',
              message: `The tool "${called.name}" is not available now.`,
            },
          },
  };
}

export interface OutputFormat {
  readonly schema: JsonObject;
  readonly parse: (text: string) => Json;
}

export function toOutputFormat(agentName: string, outputSchema: ToolParameters): OutputFormat {
  const parse = createOutputParser(agentName, outputSchema);
  return {
    schema: toJsonSchema(outputSchema, agentName),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON.parse returns only JSON
    parse: (text) => JSON.parse(JSON.stringify(parse(text))) as Json,
  };
}

/** Validates every final answer against the output schema, and saves its value. */
export function outputMiddleware(
  { parse }: OutputFormat,
  outputKey: string | undefined,
): ModelMiddleware {
  return {
    after: ({ context, response }) => {
      const text = readFinalText(response);
      if (text === undefined) return response;
      const value = parse(text);
      if (outputKey !== undefined) context.state.set(outputKey, value);
      return response;
    },
  };
}

/** Lets a planner extend requests and process answers. */
export function plannerMiddleware(planner: BasePlanner): ModelMiddleware {
  return {
    before: ({ context, request }) => {
      const instruction = planner.buildPlanningInstruction({ context, request });
      if (instruction !== undefined) appendInstruction(request, instruction);
    },
    after: ({ context, response }) => {
      const { content } = response;
      const parts = planner.processPlanningResponse({ context, parts: content.parts });
      return parts === undefined ? response : { ...response, content: { ...content, parts } };
    },
  };
}
