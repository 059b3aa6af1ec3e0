import { readOwn } from '../../core/internal.ts';
import { decodeInlineData, PetrichorError } from '../../core/index.ts';
import type { InvocationId, JsonObject, SessionKey } from '../../core/index.ts';
import { NoServiceError } from '../../tools/internal.ts';
import type { ArtifactPart, ArtifactService } from '../../tools/index.ts';
import { parseTemplate } from './parse-template.ts';
import type { TemplatePiece } from './parse-template.ts';

/** The argument of an instruction function. */
export interface InstructionContext {
  readonly state: JsonObject;
  readonly invocationId: InvocationId;
  readonly sessionKey: SessionKey;
}

/**
 * The instruction that precedes the conversation in the prompt: a template, a function that returns the text, or a list
 * of both. In a template `{name}` inserts a state value, `{app:name}`, `{user:name}` and `{temp:name}` a value of wider
 * or narrower state, and `{artifact.name}` the text of an artifact. A missing value is an error, except after `{name?}`.
 * Braces in the text of a function are literal.
 */
export type Instruction =
  | string
  | ((context: InstructionContext) => string | Promise<string>)
  | readonly Instruction[];

/**
 * An instruction template refers to state or an artifact that does not exist.
 * @remedy Set the state or save the artifact before the turn, or write `{name?}` if it may be missing.
 */
export class MissingVariableError extends PetrichorError {
  override readonly code = 'missing_variable' as const;
  /** The name as written in the template: `user:name`, `artifact.notes`. */
  readonly variable: string;

  constructor(variable: string, advice: string) {
    super(
      `The instruction refers to {${variable}}, which does not exist: ${advice}, or write {${variable}?} if it may be missing.`,
    );
    this.variable = variable;
  }
}

/**
 * An instruction template refers to an artifact that is not text.
 * @remedy Give the artifact to the model in a message.
 */
export class ArtifactNotTextError extends PetrichorError {
  override readonly code = 'artifact_not_text' as const;
  readonly artifact: string;

  constructor(artifact: string, what: string) {
    super(
      `The instruction refers to {artifact.${artifact}}, which is ${what}, not text: give it to the model in a message.`,
    );
    this.artifact = artifact;
  }
}

/**
 * The text of the instructions, separated by blank lines; undefined when there is none.
 * @throws MissingVariableError, NoServiceError, ArtifactNotTextError, and errors of an instruction function or the
 *   artifact service
 */
export async function instructionText(
  instructions: readonly (Instruction | undefined)[],
  context: InstructionContext,
  artifacts: ArtifactService | undefined,
): Promise<string | undefined> {
  const texts: string[] = [];
  for (const instruction of instructions.flatMap(flattenInstruction)) {
    texts.push(
      typeof instruction === 'function'
        ? await instruction(context)
        : await fillTemplate(instruction, context, artifacts),
    );
  }
  return texts.length === 0 ? undefined : texts.filter((text) => text !== '').join('\n\n');
}

function flattenInstruction(
  instruction: Instruction | undefined,
): readonly Exclude<Instruction, readonly Instruction[]>[] {
  if (instruction === undefined) return [];
  if (typeof instruction === 'string' || typeof instruction === 'function') return [instruction];
  return instruction.flatMap(flattenInstruction);
}

async function fillTemplate(
  template: string,
  context: InstructionContext,
  artifacts: ArtifactService | undefined,
): Promise<string> {
  // A fast path: most instructions have no placeholder, and this runs for every model call.
  if (!template.includes('{')) return template;
  const pieces = parseTemplate(template);
  return (await Promise.all(pieces.map((piece) => resolvePiece(piece, context, artifacts)))).join(
    '',
  );
}

async function resolvePiece(
  piece: TemplatePiece,
  { state, sessionKey: session }: InstructionContext,
  artifacts: ArtifactService | undefined,
): Promise<string> {
  if (piece.kind === 'text') return piece.text;
  const { kind, name, optional } = piece;
  if (kind === 'artifact') {
    if (artifacts === undefined) throw new NoServiceError('artifacts');
    const part = await artifacts.load({ session, name });
    if (part !== undefined) return readArtifactText(name, part);
  } else {
    const value = readOwn(state, name);
    if (value !== undefined) return typeof value === 'string' ? value : JSON.stringify(value);
  }
  if (optional) return '';
  throw kind === 'artifact'
    ? new MissingVariableError(`artifact.${name}`, 'save it before the turn')
    : new MissingVariableError(name, 'set it before the turn, by a tool or the stateDelta of send');
}

function readArtifactText(name: string, part: ArtifactPart): string {
  if ('text' in part) return part.text;
  if ('fileData' in part) throw new ArtifactNotTextError(name, 'a reference to a file');
  const { mimeType } = part.inlineData;
  if (!/^(?:text\/|application\/(?:.*\+)?(?:json|xml|yaml)$)/.test(mimeType))
    throw new ArtifactNotTextError(name, `of type ${mimeType}`);
  return new TextDecoder().decode(decodeInlineData(part.inlineData));
}
