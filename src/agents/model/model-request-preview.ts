import type { GenerationConfig, ModelRequest, ToolDeclaration } from '../../models/index.ts';
import type { EffectContext, Transition } from '../../net/index.ts';
import type { ContextPolicy } from '../prompt/context-policy.ts';
import type { Instruction } from '../prompt/instruction.ts';
import type { TrimOptions } from '../prompt/trim-options.ts';
import type { ModelRequestChanges } from '../vocabulary/model-call.ts';

/** A part of a model request that is not in the journal, so that it may differ from what was sent. */
export interface UnrecordedPart {
  readonly part: 'instruction' | 'tools' | 'contents' | 'config';
  /**
   * Where it comes from now.
   * - `definition`: the agent's definition, which may have been changed since. A tool set may list other tools.
   * - `function`: a function of the agent, which may return something else at each call.
   * - `artifact`: an instruction template that inserts an artifact, which may have a newer version.
   */
  readonly source: 'definition' | 'function' | 'artifact';
}

/** The request of a model call, built without calling the model. */
export interface ModelRequestPreview {
  /** The name of the model. */
  readonly model: string;
  readonly request: ModelRequest;
  /** The parts of `request` that are not in the journal. All other parts are exactly what was sent. */
  readonly mayDiffer: readonly UnrecordedPart[];
}

interface RequestSources {
  readonly leadingInstruction?: Instruction;
  readonly globalInstruction?: Instruction;
  readonly instruction?: Instruction;
  readonly tools: readonly ToolDeclaration[];
  readonly config?: GenerationConfig;
  readonly context?: ContextPolicy | TrimOptions;
}

/** Lists the parts of a request that come from the agent. A part that a callback replaced is in the journal. */
export function listUnrecordedParts(
  { tools, config, context, ...sources }: RequestSources,
  changes: ModelRequestChanges | undefined,
): readonly UnrecordedPart[] {
  const { leadingInstruction, globalInstruction, instruction } = sources;
  const instructions = [leadingInstruction, globalInstruction, instruction].filter(
    (one) => one !== undefined,
  );
  const parts: readonly (UnrecordedPart | undefined)[] = [
    instructions.length > 0
      ? { part: 'instruction', source: findInstructionSource(instructions) }
      : undefined,
    tools.length > 0 ? { part: 'tools', source: 'definition' } : undefined,
    context === undefined
      ? undefined
      : { part: 'contents', source: typeof context === 'function' ? 'function' : 'definition' },
    config === undefined ? undefined : { part: 'config', source: 'definition' },
  ];
  return parts.filter(
    (one): one is UnrecordedPart => one !== undefined && changes?.[one.part] === undefined,
  );
}

function findInstructionSource(instruction: Instruction): UnrecordedPart['source'] {
  if (typeof instruction === 'function') return 'function';
  if (typeof instruction === 'string')
    return instruction.includes('{artifact.') ? 'artifact' : 'definition';
  const sources = instruction.map(findInstructionSource);
  return sources.find((source) => source !== 'definition') ?? 'definition';
}

/**
 * Builds the request of a model call from the tokens of its firing.
 * @returns undefined if the transition does not call a model
 */
export async function previewModelRequest(
  { preview }: Transition,
  tokens: Readonly<Record<string, unknown>>,
  context: EffectContext,
): Promise<ModelRequestPreview | undefined> {
  const shown = await preview?.(tokens, context);
  return isModelRequestPreview(shown) ? shown : undefined;
}

function isModelRequestPreview(value: unknown): value is ModelRequestPreview {
  return (
    typeof value === 'object' &&
    value !== null &&
    'model' in value &&
    'request' in value &&
    'mayDiffer' in value
  );
}
