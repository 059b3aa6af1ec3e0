import type { Content, FileDataPart, InlineDataPart, Part } from '../../core/index.ts';
import type { GenerationConfig } from '../model/model.ts';
import type { ToolDeclaration } from '../model/tool-declaration.ts';

/**
 * The features that a request may use beyond plain text: the rows of the table in `docs/models.md`.
 */
export type Feature =
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'maxOutputTokens'
  | 'stopSequences'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'seed'
  | 'json'
  | 'responseSchema'
  | 'images'
  | 'imageUrls'
  | 'files'
  | 'thinking.effort'
  | 'thinking.budgetTokens'
  | 'thinking.show'
  | 'cache.prefix'
  | 'cache.key'
  | 'cache.retention'
  | 'toolChoice'
  | 'parallelToolCalls'
  | 'speed';

/** The parts of a request that determine its features. */
export interface FeatureInput {
  readonly config?: GenerationConfig;
  readonly contents: readonly Content[];
  readonly tools: readonly ToolDeclaration[];
}

/** The features that a request uses. An option that equals the default behavior is none. */
export function requestedFeatures({
  config = {},
  contents,
  tools,
}: FeatureInput): ReadonlySet<Feature> {
  const { thinking = {}, cache = {} } = config;
  const requested: Readonly<Record<Feature, boolean>> = {
    temperature: config.temperature !== undefined,
    topP: config.topP !== undefined,
    topK: config.topK !== undefined,
    maxOutputTokens: config.maxOutputTokens !== undefined,
    stopSequences: (config.stopSequences ?? []).length > 0,
    presencePenalty: config.presencePenalty !== undefined,
    frequencyPenalty: config.frequencyPenalty !== undefined,
    seed: config.seed !== undefined,
    json: config.json === true && config.responseSchema === undefined,
    responseSchema: config.responseSchema !== undefined,
    ...contentFeatures(contents),
    'thinking.effort': thinking.effort !== undefined,
    'thinking.budgetTokens': thinking.budgetTokens !== undefined,
    'thinking.show': thinking.show === true,
    'cache.prefix': cache.prefix !== undefined,
    'cache.key': cache.key !== undefined,
    'cache.retention': cache.retention === 'long',
    toolChoice: tools.length > 0 && (config.toolChoice ?? 'auto') !== 'auto',
    parallelToolCalls: tools.length > 0 && config.parallelToolCalls === false,
    speed: config.speed === 'fast',
  };
  return new Set(FEATURES.filter((feature) => requested[feature]));
}

/** All features, in the order of the table. */
export const FEATURES: readonly Feature[] = [
  'temperature',
  'topP',
  'topK',
  'maxOutputTokens',
  'stopSequences',
  'presencePenalty',
  'frequencyPenalty',
  'seed',
  'json',
  'responseSchema',
  'images',
  'imageUrls',
  'files',
  'thinking.effort',
  'thinking.budgetTokens',
  'thinking.show',
  'cache.prefix',
  'cache.key',
  'cache.retention',
  'toolChoice',
  'parallelToolCalls',
  'speed',
];

function contentFeatures(contents: readonly Content[]): Readonly<Record<FileFeature, boolean>> {
  const files = contents.flatMap(({ parts }) => parts).filter(hasFile);
  const found = new Set(files.map(fileFeature));
  return {
    images: found.has('images'),
    imageUrls: found.has('imageUrls'),
    files: found.has('files'),
  };
}

type FileFeature = 'images' | 'imageUrls' | 'files';

function hasFile(part: Part): part is InlineDataPart | FileDataPart {
  return 'inlineData' in part || 'fileData' in part;
}

/** Returns the feature that a model needs to read a part with a file. */
export function fileFeature(part: InlineDataPart | FileDataPart): FileFeature {
  if ('inlineData' in part) return isImage(part.inlineData.mimeType) ? 'images' : 'files';
  return isImage(part.fileData.mimeType) ? 'imageUrls' : 'files';
}

function isImage(mimeType: string): boolean {
  return mimeType.startsWith('image/');
}
