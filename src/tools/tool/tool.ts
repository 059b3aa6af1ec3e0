import { checkDefinition, describeValue, omitUndefined, optionTable } from '../../core/internal.ts';
import { isJsonObject, PetrichorError } from '../../core/index.ts';
import type { OptionTable, ToolOrigin } from '../../core/index.ts';
import type { ToolDeclaration } from '../../models/index.ts';
import { createArgsParser } from '../schema/args-parser.ts';
import { checkMaxResultCharacters } from './truncate-response.ts';
import { InvalidToolError } from '../schema/invalid-tool-error.ts';
import { toJsonSchema } from '../schema/to-json-schema.ts';
import type { InferArgs, ToolParameters } from '../schema/tool-parameters.ts';
import {
  rejectArgs,
  type ArgsParser,
  type ParsedArgs,
  type ValidArgs,
} from '../schema/parsed-args.ts';
import { checkNotReserved } from './reserved-tool-names.ts';
import type { ToolCallFacts, ToolContext } from './tool-context.ts';

/**
 * What happens to a call whose process died while the tool ran: it runs again, it ends with an
 * unknown outcome, or a person decides.
 */
export type ToolCrashPolicy = 'rerun' | 'unknown' | 'ask';

/** The definition of a tool. */
export interface ToolDefinition<S extends ToolParameters> {
  /** 1 to 64 characters of `[A-Za-z0-9_-]`. */
  readonly name: string;
  /** Sent to the model: what the tool does and when to use it. */
  readonly description: string;
  /** A schema of an object. Default: no arguments. */
  readonly parameters?: S;
  /** Does the work. Without it, the call waits until someone outside answers it. */
  readonly execute?: (args: InferArgs<S>, context: ToolContext) => unknown;
  /**
   * Whether a person must approve the call first. A function must depend on its arguments only.
   * Default: false.
   */
  readonly needsApproval?: boolean | ((args: InferArgs<S>, call: ToolCallFacts) => boolean);
  /** Running it twice has the same effect as running it once. Default: false. */
  readonly idempotent?: boolean;
  /** It changes nothing. Default: false. */
  readonly readOnly?: boolean;
  /**
   * The time limit of one attempt in milliseconds. Default: 60,000; 300,000 for a tool without
   * `execute`.
   */
  readonly timeoutMs?: number;
  /**
   * The largest result, in characters of text. A longer one is truncated, stored in full as an
   * artifact if there is an artifact service, and marked as truncated for the model. Default: the
   * agent's limit, else 100,000.
   */
  readonly maxResultCharacters?: number;
  /** Default: `rerun` for a tool that is idempotent or read-only, else `unknown`. */
  readonly onCrash?: ToolCrashPolicy;
  /**
   * Its result comes later, from outside: the return value is only the first response. Default:
   * false.
   */
  readonly longRunning?: boolean;
}

/** A tool, ready for an agent. It is stateless: data and functions. */
export interface Tool {
  readonly name: string;
  /** The name in its source if that differs, such as the name on an MCP server. */
  readonly originalName?: string;
  /** Where it comes from, if that is not the agent's own code. Shown in the log. */
  readonly origin?: ToolOrigin;
  /** A policy denies it: it is not offered to models, and a call of it fails. Default: false. */
  readonly denied?: boolean;
  /** It is offered to live models only. Default: false. */
  readonly liveOnly?: boolean;
  /** A live model goes on talking while it runs. Default: false. */
  readonly nonBlocking?: boolean;
  readonly description: string;
  readonly declaration: ToolDeclaration;
  readonly needsApproval: boolean | ((args: ValidArgs, call: ToolCallFacts) => boolean);
  readonly idempotent: boolean;
  readonly readOnly: boolean;
  readonly timeoutMs: number;
  /** Undefined: the agent's limit applies. */
  readonly maxResultCharacters?: number;
  readonly onCrash: ToolCrashPolicy;
  readonly longRunning: boolean;
  /** It has no `execute`: someone outside answers its calls. */
  readonly external: boolean;
  /** Validates the arguments that a model wrote. An exception in the schema is a rejection. */
  readonly parse: ArgsParser;
  /**
   * Does the work with arguments that `parse` accepted. It rejects with whatever the tool throws.
   */
  readonly execute: (args: ValidArgs, context: ToolContext) => Promise<unknown>;
}

/** The parameters of a tool without arguments. */
type NoParameters = {
  readonly type: 'object';
  readonly properties: Record<never, never>;
  readonly additionalProperties: false;
};

const noParameters: NoParameters = { type: 'object', properties: {}, additionalProperties: false };

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_EXTERNAL_TIMEOUT_MS = 300_000;
/** The longest delay of a timer. */
const MAX_TIMEOUT_MS = 2_147_483_647;

/** The options of `tool`, with aliases from ADK and other libraries for error messages. */
export const TOOL_OPTIONS: OptionTable = optionTable<ToolDefinition<ToolParameters>>(
  'tool',
  {
    name: true,
    description: true,
    parameters: true,
    execute: true,
    needsApproval: true,
    idempotent: true,
    readOnly: true,
    timeoutMs: true,
    maxResultCharacters: true,
    onCrash: true,
    longRunning: true,
  },
  {
    requireConfirmation: 'needsApproval',
    requiresConfirmation: 'needsApproval',
    isLongRunning: 'longRunning',
    inputSchema: 'parameters',
    input_schema: 'parameters',
    func: 'execute',
    handler: 'execute',
    run: 'execute',
  },
);

/**
 * Creates a tool. The argument type of `execute` follows from `parameters`: a schema of zod 4,
 * arktype, or valibot (with its adapter), or a JSON Schema.
 * @throws InvalidToolError if a required option is missing, or an option is not valid
 * @throws InvalidInputError if `definition` is not an object, or `maxResultCharacters` is not a whole number of at
 * least 500
 */
export function tool<S extends ToolParameters = NoParameters>(definition: ToolDefinition<S>): Tool {
  checkDefinition(TOOL_OPTIONS, definition);
  const {
    name,
    description,
    idempotent = false,
    readOnly = false,
    longRunning = false,
  } = definition;
  checkName(name);
  checkTypes(definition);
  const { maxResultCharacters } = definition;
  checkMaxResultCharacters(maxResultCharacters);
  const parameters = definition.parameters ?? noParameters;
  const schema = toJsonSchema(parameters, name);
  const external = definition.execute === undefined;
  return {
    name,
    description,
    declaration: { name, description, parameters: schema },
    needsApproval: toApprovalRule(definition),
    idempotent,
    readOnly,
    timeoutMs: resolveTimeout(name, definition.timeoutMs, external),
    ...omitUndefined({ maxResultCharacters }),
    onCrash: definition.onCrash ?? (idempotent || readOnly ? 'rerun' : 'unknown'),
    longRunning,
    external,
    parse: toSafeParser(createArgsParser(parameters, schema, name)),
    execute: toExecute(definition),
  };
}

/**
 * A tool without `execute` was executed: its calls are answered from outside.
 * @remedy Do not call `execute` of such a tool. Answer its pending calls instead.
 */
export class ExternalToolError extends PetrichorError {
  override readonly code = 'external_tool' as const;
  readonly toolName: string;

  constructor(toolName: string) {
    super(`Tool "${toolName}" has no execute function: its calls wait for an answer from outside.`);
    this.toolName = toolName;
  }
}

function checkName(name: unknown): void {
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    throw new InvalidToolError(
      typeof name === 'string' ? name : '',
      `its name must be 1 to 64 of A-Z, a-z, 0-9, _ and -; it is ${describeValue(name)}.`,
    );
  }
  checkNotReserved(name);
}

const CRASH_POLICIES: readonly unknown[] = [
  'rerun',
  'unknown',
  'ask',
] satisfies readonly ToolCrashPolicy[];

/** Checks the types of options, for callers without TypeScript. */
function checkTypes(definition: {
  readonly name: string;
  readonly description: unknown;
  readonly execute?: unknown;
  readonly needsApproval?: unknown;
  readonly onCrash?: unknown;
}): void {
  const { name, description, execute, needsApproval = false, onCrash } = definition;
  const problem = (field: string, expected: string, value: unknown): InvalidToolError =>
    new InvalidToolError(name, `its ${field} must be ${expected}; it is ${describeValue(value)}.`);
  if (typeof description !== 'string')
    throw problem('description', 'a text that tells the model when to use it', description);
  if (execute !== undefined && typeof execute !== 'function')
    throw problem('execute', 'a function, or left out', execute);
  if (typeof needsApproval !== 'boolean' && typeof needsApproval !== 'function')
    throw problem(
      'needsApproval',
      'true, false, or a function that returns one of them',
      needsApproval,
    );
  if (onCrash !== undefined && !CRASH_POLICIES.includes(onCrash))
    throw problem('onCrash', "'rerun', 'unknown' or 'ask'", onCrash);
}

function resolveTimeout(name: string, timeoutMs: number | undefined, external: boolean): number {
  if (timeoutMs === undefined) return external ? DEFAULT_EXTERNAL_TIMEOUT_MS : DEFAULT_TIMEOUT_MS;
  if (timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS) return timeoutMs;
  throw new InvalidToolError(name, `its timeoutMs must be above 0 and at most ${MAX_TIMEOUT_MS}.`);
}

function toApprovalRule<S extends ToolParameters>({
  needsApproval = false,
}: ToolDefinition<S>): Tool['needsApproval'] {
  if (typeof needsApproval === 'boolean') return needsApproval;
  return (args, call) => needsApproval(asArgs<S>(args), call);
}

function toExecute<S extends ToolParameters>({
  name,
  execute,
}: ToolDefinition<S>): Tool['execute'] {
  return async (args, context) => {
    if (execute === undefined) throw new ExternalToolError(name);
    return execute(asArgs<S>(args), context);
  };
}

// Sound: only `parse` of the same tool brands arguments, and it brands the output of this very
// schema.
function asArgs<S>(args: ValidArgs): InferArgs<S> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- tools of different schemas share one list
  return args as unknown as InferArgs<S>;
}

// A call must get a response whatever a user's schema does.
function toSafeParser(parse: ArgsParser): ArgsParser {
  return (args): ParsedArgs => {
    if (!isJsonObject(args)) return rejectArgs([{ path: [], message: 'must be an object' }]);
    try {
      return parse(args);
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'the check failed';
      return rejectArgs([{ path: [], message: reason }]);
    }
  };
}
