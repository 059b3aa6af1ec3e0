import { isJsonObject, PetrichorError, checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
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

/** What becomes of a call whose process died while the tool ran: it runs again, its outcome is unknown, or a person decides. */
export type ToolCrashPolicy = 'rerun' | 'unknown' | 'ask';

/** What a tool is made from. */
export interface ToolDefinition<S extends ToolParameters> {
  /** `[A-Za-z0-9_-]`, 1 to 64 characters. */
  readonly name: string;
  /** Told to the model: what it does, and when to use it. */
  readonly description: string;
  /** A schema of one object. No arguments when missing. */
  readonly parameters?: S;
  /** Does the work. When missing, the call waits until someone outside answers it. */
  readonly execute?: (args: InferArgs<S>, context: ToolContext) => unknown;
  /** Whether a person must say yes first. A function must depend on its arguments only. */
  readonly needsApproval?: boolean | ((args: InferArgs<S>, call: ToolCallFacts) => boolean);
  /** Doing it twice is the same as doing it once. */
  readonly idempotent?: boolean;
  /** It changes nothing. */
  readonly readOnly?: boolean;
  /** Milliseconds for one attempt. 60,000 when missing, 300,000 for an answer from outside. */
  readonly timeoutMs?: number;
  /**
   * How many characters of text its result may have. More is cut, kept as an artifact where there is a service for them,
   * and the model is told. Default: that of the agent, else 100,000.
   */
  readonly maxResultCharacters?: number;
  /** `rerun` when missing for a tool that is idempotent or read-only, else `unknown`. */
  readonly onCrash?: ToolCrashPolicy;
  /** Its result comes later than its return, from outside: what it returns is the first word on it. */
  readonly longRunning?: boolean;
}

/** A tool, ready for an agent. Plain data and functions: it holds no state. */
export interface Tool {
  readonly name: string;
  /** The name that its source has for it, where that is another, such as an MCP server's. */
  readonly originalName?: string;
  readonly description: string;
  readonly declaration: ToolDeclaration;
  readonly needsApproval: boolean | ((args: ValidArgs, call: ToolCallFacts) => boolean);
  readonly idempotent: boolean;
  readonly readOnly: boolean;
  readonly timeoutMs: number;
  /** Missing when the agent's limit applies. */
  readonly maxResultCharacters?: number;
  readonly onCrash: ToolCrashPolicy;
  readonly longRunning: boolean;
  /** It has no `execute`: someone outside answers its calls. */
  readonly external: boolean;
  /** Judges what a model wrote. A throw of the schema is a refusal too. */
  readonly parse: ArgsParser;
  /** Does the work, with arguments that `parse` accepted. It rejects with whatever the tool throws. */
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
/** The longest time a timer can wait for. */
const MAX_TIMEOUT_MS = 2_147_483_647;

/** The options of `tool`, with the words that ADK and others have for them. */
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
 * Makes a tool. The type of `execute`'s arguments follows from `parameters`: a schema of zod 4, arktype, or valibot in
 * its adapter, or a JSON Schema as it is.
 * @throws InvalidToolError
 */
export function tool<S extends ToolParameters = NoParameters>(definition: ToolDefinition<S>): Tool {
  checkOptions(TOOL_OPTIONS, definition);
  const {
    name,
    description,
    idempotent = false,
    readOnly = false,
    longRunning = false,
  } = definition;
  checkName(name);
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
    ...(maxResultCharacters !== undefined && { maxResultCharacters }),
    onCrash: definition.onCrash ?? (idempotent || readOnly ? 'rerun' : 'unknown'),
    longRunning,
    external,
    parse: toSafeParser(createArgsParser(parameters, schema, name)),
    execute: toExecute(definition),
  };
}

/** Someone asked us to run a tool whose calls are answered from outside. */
export class ExternalToolError extends PetrichorError {
  override readonly code = 'external_tool' as const;
  readonly toolName: string;

  constructor(toolName: string) {
    super(`Tool "${toolName}" has no execute: its calls wait for an answer from outside.`);
    this.toolName = toolName;
  }
}

function checkName(name: string): void {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    throw new InvalidToolError(name, 'its name must be 1 to 64 of A-Z, a-z, 0-9, _ and -.');
  }
  checkNotReserved(name);
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

// Sound, because only `parse` of the same tool gives the brand, and it gives it to the output of this very schema.
function asArgs<S>(args: ValidArgs): InferArgs<S> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- tools of different schemas stand in one list
  return args as unknown as InferArgs<S>;
}

// Whatever a schema of the user does, a call must end in an answer.
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
