import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { description, optional, picklist, pipe, strictObject } from 'valibot';
import { tool, type Tool } from '../../tool/tool.ts';
import { countArgument, textArgument } from '../../schema/argument.ts';
import { resolveCommandSettings, type CommandOptions } from './command-options.ts';
import { commandResponse } from './command-response.ts';
import { resolveEnvironment } from '../workspace/tool-environment.ts';

const MAX_CODE_LENGTH = 1_000_000;

/** The commands. Each reads the program from its standard input. */
const INTERPRETERS = { python: ['python3', '-'], javascript: ['node', '-'] } as const;

/**
 * Creates `code_execution`, which runs a program in Python 3 or JavaScript (Node) in the working
 * folder, in a sandbox. Every call starts a new process. A call that a crash interrupted has an
 * unknown outcome.
 * @throws InvalidToolError as `resolveCommandSettings` does
 */
export function codeExecutionTool(options: CommandOptions): Tool {
  const { sandbox, limits, needsApproval, timeoutMs } = resolveCommandSettings(
    'code_execution',
    options,
  );
  return tool({
    name: 'code_execution',
    description:
      'Runs a program in Python 3 or JavaScript (Node, CommonJS or ES module) in the working folder and returns what it printed and its exit code. ' +
      'Each call is a new process: files of the working folder stay, variables do not.' +
      (sandbox.isolated ? ' Only the working folder and /tmp can be written.' : ''),
    parameters: toStandardJsonSchema(
      strictObject({
        language: pipe(
          picklist(['python', 'javascript']),
          description('The language of the program.'),
        ),
        code: textArgument('The program. Print what you want to see.', MAX_CODE_LENGTH),
        timeout_ms: optional(
          countArgument('After how many milliseconds it is killed.', 1, limits.timeMs),
          limits.timeMs,
        ),
      }),
    ),
    needsApproval,
    timeoutMs,
    onCrash: 'unknown',
    execute: async ({ language, code, timeout_ms }, { sessionKey, signal }) => {
      const environment = await resolveEnvironment(options.environment, sessionKey);
      const result = await sandbox.run({
        ...environment,
        argv: INTERPRETERS[language],
        stdin: code,
        limits: { ...limits, timeMs: timeout_ms },
        signal,
      });
      return commandResponse(result);
    },
  });
}
