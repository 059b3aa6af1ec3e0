// The texts of this file are those of Google's Agent Development Kit. See NOTICE.

import { decodedSize, isFunctionResponsePart, isInlineDataPart } from '../../core/index.ts';
import type { Part } from '../../core/index.ts';
import { NoServiceError, tool } from '../../tools/index.ts';
import type { Tool } from '../../tools/index.ts';
import { appendInstruction } from '../contracts/model-middleware.ts';
import type { CompilableTool, ToolRequestParams } from './compile-context.ts';

/**
 * Tells the model which artifacts there are, and shows it those that it asks for in the next request only. The texts are
 * those of ADK. `loadArtifactsTool()` returns the content as the result of the call instead, in pages.
 */
export class LoadArtifactsTool implements CompilableTool {
  readonly name = 'load_artifacts';

  async compileTool(): Promise<Tool> {
    return tool({
      name: this.name,
      description:
        'Loads artifacts into the session for this request.\n\nNOTE: Call when you need access to artifacts (for example, uploads saved by the web UI).',
      parameters: {
        type: 'object',
        properties: {
          artifact_names: {
            type: 'array',
            items: { type: 'string' },
            description: 'The names of the artifacts to load.',
          },
        },
      },
      readOnly: true,
      execute: ({ artifact_names: names = [] }) => ({
        artifact_names: names,
        status:
          'artifact contents temporarily inserted and removed. to access these artifacts, call load_artifacts tool again.',
      }),
    });
  }

  async processLlmRequest(params: ToolRequestParams): Promise<void> {
    const names = await listNames(params);
    if (names.length === 0) return;
    const { toolContext, llmRequest } = params;
    appendInstruction(
      llmRequest,
      `You have a list of artifacts:
  ${JSON.stringify(names)}

  When the user asks questions about any of the artifacts, you should call the
  \`load_artifacts\` function to load the artifact. Always call load_artifacts
  before answering questions related to the artifacts, regardless of whether the
  artifacts have been loaded before. Do not depend on prior answers about the
  artifacts.`,
    );
    for (const name of readRequestedNames(llmRequest, this.name)) {
      const artifact =
        (await toolContext.artifacts.load(name)) ??
        (name.startsWith('user:') ? undefined : await toolContext.artifacts.load(`user:${name}`));
      if (artifact === undefined) continue;
      llmRequest.contents.push({
        role: 'user',
        parts: [{ text: `Artifact ${name} is:` }, toShownPart(artifact, name)],
      });
    }
  }
}

/** The tool `load_artifacts`. */
export const LOAD_ARTIFACTS: LoadArtifactsTool = new LoadArtifactsTool();

async function listNames({ toolContext }: ToolRequestParams): Promise<readonly string[]> {
  try {
    return await toolContext.artifacts.list();
  } catch (error) {
    // As in ADK, an agent without artifacts goes on without them.
    if (error instanceof NoServiceError) return [];
    throw error;
  }
}

/** The names that the model asked for in the call whose result is the end of the conversation. */
function readRequestedNames(
  { contents }: ToolRequestParams['llmRequest'],
  toolName: string,
): readonly string[] {
  const [first] = contents.at(-1)?.parts ?? [];
  if (first === undefined || !isFunctionResponsePart(first)) return [];
  const { name, response } = first.functionResponse;
  const names = response['artifact_names'];
  return name === toolName && Array.isArray(names)
    ? names.filter((one): one is string => typeof one === 'string')
    : [];
}

const TEXT_TYPES: ReadonlySet<string> = new Set([
  'application/csv',
  'application/json',
  'application/xml',
]);

/** The part, or its text or a description, if Gemini does not read bytes of its type. */
function toShownPart(part: Part, name: string): Part {
  if (!isInlineDataPart(part)) return part;
  const { mimeType, data } = part.inlineData;
  const [type = ''] = mimeType.split(';');
  if (/^(?:image|audio|video)\//.test(type) || type === 'application/pdf') return part;
  if (type.startsWith('text/') || TEXT_TYPES.has(type))
    return { text: Buffer.from(data, 'base64').toString('utf8') };
  const size = (decodedSize(data) / 1024).toFixed(1);
  return {
    text: `[Binary artifact: ${name}, type: ${type}, size: ${size} KB. Content cannot be displayed inline.]`,
  };
}
