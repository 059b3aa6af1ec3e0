import { isJsonObject } from '../../core/index.ts';
import { isToolset, tool } from '../../tools/index.ts';
import type { Tool, Toolset } from '../../tools/index.ts';
import { activeLiveSessions } from '../live/active-live-sessions.ts';

/** What a sub-agent of a sequential agent is told in a live session. */
export const TASK_COMPLETED_INSTRUCTION =
  'If you have finished your task, call the function task_completed, so that the next agent continues. Say nothing else with it.';

/** The name of the tool with which an agent says that it is done. */
export const TASK_COMPLETED = 'task_completed';

/** The tools that live models have beside those of the agent: to stop streaming tools, and to say that the agent is done. */
export function createLiveTools(
  tools: readonly (Tool | Toolset)[],
  isStage: boolean,
): readonly Tool[] {
  const streams = tools
    .flatMap((one) => (isToolset(one) ? one.tools() : [one]))
    .some((one) => one.nonBlocking === true);
  return [...(streams ? [stopStreamingTool()] : []), ...(isStage ? [taskCompleted] : [])];
}

const taskCompleted: Tool = {
  ...tool({
    name: TASK_COMPLETED,
    description: 'Signals that the agent has finished its task.',
    idempotent: true,
    execute: (_, { actions }) => {
      actions.escalate();
      actions.skipSummarization();
      return { status: 'Task completion signaled.' };
    },
  }),
  liveOnly: true,
};

function stopStreamingTool(): Tool {
  const stop = tool({
    name: 'stop_streaming',
    description: 'Stops a function that streams its results.',
    parameters: {
      type: 'object',
      properties: {
        function_name: { type: 'string', description: 'The name of the function to stop.' },
      },
      required: ['function_name'],
      additionalProperties: false,
    },
    idempotent: true,
    execute: async (args, { firingId }) => {
      const value = isJsonObject(args) ? args['function_name'] : '';
      const name = typeof value === 'string' ? value : '';
      const outcome = (await activeLiveSessions.find(firingId)?.stopStream(name)) ?? 'not-active';
      switch (outcome) {
        case 'stopped':
          return { status: `Successfully stopped streaming function ${name}` };
        case 'not-active':
          return { status: `No active streaming function named ${name} found` };
        case 'still-running':
          return { status: `The task is not cancelled yet for ${name}.` };
        default:
          return outcome satisfies never;
      }
    },
  });
  return { ...stop, liveOnly: true };
}
