import { isInlineDataPart, checkOptions, optionTable } from '../../core/index.ts';
import type { Content, Part, OptionTable } from '../../core/index.ts';
import { BasePlugin } from './base-plugin.ts';
import type { LlmResponse } from '../contracts/agent-callbacks.ts';
import type { CallbackContext, InvocationContext } from '../contracts/contexts.ts';

/** Options of `SaveFilesAsArtifactsPlugin`. Files of users are always saved. */
export interface SaveFilesAsArtifactsPluginOptions {
  /** Whether images and audio in model answers are saved too. They also stay in the answer. Default: true. */
  readonly modelFiles?: boolean;
  /** Default: `save_files_as_artifacts`. */
  readonly name?: string;
}

/** The options of `SaveFilesAsArtifactsPlugin`. */
export const SAVE_FILES_OPTIONS: OptionTable = optionTable<SaveFilesAsArtifactsPluginOptions>(
  'SaveFilesAsArtifactsPlugin',
  {
    modelFiles: true,
    name: true,
  },
);

/**
 * Saves the files of a message as artifacts of the session, under their names or as `artifact_<invocation>_<number>`.
 * In the message, each file is replaced by its name.
 */
export class SaveFilesAsArtifactsPlugin extends BasePlugin {
  readonly #modelFiles: boolean;

  constructor(options: SaveFilesAsArtifactsPluginOptions = {}) {
    if (new.target === SaveFilesAsArtifactsPlugin) checkOptions(SAVE_FILES_OPTIONS, options);
    const { modelFiles = true, name = 'save_files_as_artifacts' } = options;
    super(name);
    this.#modelFiles = modelFiles;
  }

  override async onUserMessageCallback({
    invocationContext: { invocationId, artifacts },
    userMessage,
  }: {
    readonly invocationContext: InvocationContext;
    readonly userMessage: Content;
  }): Promise<Content | undefined> {
    const parts: Part[] = [];
    for (const [index, part] of userMessage.parts.entries()) {
      if (!isInlineDataPart(part)) {
        parts.push(part);
        continue;
      }
      const name = part.inlineData.displayName ?? `artifact_${invocationId}_${index}`;
      await artifacts.save(name, part);
      parts.push({ text: `[Uploaded Artifact: "${name}"]` });
    }
    return userMessage.parts.some(isInlineDataPart) ? { ...userMessage, parts } : undefined;
  }

  override async afterModelCallback({
    callbackContext: { firingId, artifacts },
    llmResponse,
  }: {
    readonly callbackContext: CallbackContext;
    readonly llmResponse: LlmResponse;
  }): Promise<undefined> {
    if (!this.#modelFiles) return;
    for (const [index, part] of llmResponse.content.parts.entries()) {
      if (!isInlineDataPart(part)) continue;
      await artifacts.save(part.inlineData.displayName ?? `answer_${firingId}_${index}`, part);
    }
  }
}
