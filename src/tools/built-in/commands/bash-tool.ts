import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { optional, strictObject } from 'valibot';
import { tool, type Tool } from '../../tool/tool.ts';
import { countArgument, textArgument } from '../../schema/argument.ts';
import { resolveCommandSettings, type CommandOptions } from './command-options.ts';
import { commandResponse } from './command-response.ts';
import { resolveEnvironment } from '../workspace/tool-environment.ts';

const MAX_COMMAND_LENGTH = 100_000;

/**
 * Creates `bash`, which runs a command in the working folder, in a sandbox. Every call starts a new
 * shell: files stay; variables, `cd` and background processes end with the call. A call that a
 * crash interrupted has an unknown outcome.
 * @throws InvalidToolError as `resolveCommandSettings` does
 */
export function bashTool(options: CommandOptions): Tool {
  const { sandbox, limits, needsApproval, timeoutMs } = resolveCommandSettings('bash', options);
  return tool({
    name: 'bash',
    description:
      'Runs a bash command in the working folder and returns its output and exit code. Each call is a new shell: files stay, ' +
      'but variables, cd and background processes end with the call. ' +
      (sandbox.isolated ? 'Only the working folder and /tmp can be written. ' : '') +
      `It may take ${limits.timeMs / 1_000} seconds; of long output the middle is left out.`,
    parameters: toStandardJsonSchema(
      strictObject({
        command: textArgument('The command, as one script for bash.', MAX_COMMAND_LENGTH),
        timeout_ms: optional(
          countArgument('After how many milliseconds it is killed.', 1, limits.timeMs),
          limits.timeMs,
        ),
      }),
    ),
    needsApproval,
    timeoutMs,
    onCrash: 'unknown',
    execute: async ({ command, timeout_ms }, { sessionKey, signal }) => {
      const environment = await resolveEnvironment(options.environment, sessionKey);
      const result = await sandbox.run({
        ...environment,
        argv: ['bash', '-c', command],
        limits: { ...limits, timeMs: timeout_ms },
        signal,
      });
      return commandResponse(result);
    },
  });
}
