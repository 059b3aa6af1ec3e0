import type { Content, FileDataPart, InlineDataPart, Part } from '../../core/index.ts';
import { fileFeature, type Feature } from '../provider/feature.ts';
import type { SupportedUrls } from '../provider/language-model.ts';

/** Which files cannot be sent to a model. */
export interface FileLimits {
  readonly unsupported: ReadonlySet<Feature>;
  /** The URLs that the provider fetches. Default: not checked. */
  readonly supportedUrls?: SupportedUrls;
  /** Media types that the provider package has rejected. */
  readonly refusedTypes: ReadonlySet<string>;
}

/** A conversation without the files that cannot be sent to the model. */
export interface ShownContents {
  readonly contents: readonly Content[];
  /** The features that the hidden files would need. */
  readonly hidden: ReadonlySet<Feature>;
  /** One sentence for each hidden file. */
  readonly warnings: readonly string[];
  /** Media types of the files that are sent. */
  readonly shownTypes: ReadonlySet<string>;
}

/**
 * Replaces each file that cannot be sent by its name and type. A conversation keeps its files, so
 * rejecting one would make every later turn fail.
 */
export function hideFiles(contents: readonly Content[], limits: FileLimits): ShownContents {
  const hidden = new Set<Feature>();
  const warnings: string[] = [];
  const shownTypes = new Set<string>();
  const shown = (part: Part): Part => {
    if (!('inlineData' in part || 'fileData' in part)) return part;
    const feature = fileFeature(part);
    const { mimeType } = 'inlineData' in part ? part.inlineData : part.fileData;
    if (!isHidden(part, feature, limits)) {
      shownTypes.add(mimeType);
      return part;
    }
    hidden.add(feature);
    const description = describe(part);
    warnings.push(`${feature}: ${description} was not shown to the model`);
    return { text: `(${description}: you cannot be shown it)` };
  };
  return {
    contents: contents.map((content) => ({ ...content, parts: content.parts.map(shown) })),
    hidden,
    warnings,
    shownTypes,
  };
}

function isHidden(
  part: InlineDataPart | FileDataPart,
  feature: Feature,
  { unsupported, refusedTypes, supportedUrls }: FileLimits,
): boolean {
  const { mimeType } = 'inlineData' in part ? part.inlineData : part.fileData;
  if (unsupported.has(feature) || refusedTypes.has(mimeType)) return true;
  return (
    'fileData' in part && supportedUrls !== undefined && !isFetched(part.fileData, supportedUrls)
  );
}

function isFetched(
  { mimeType, fileUri }: FileDataPart['fileData'],
  supported: SupportedUrls,
): boolean {
  // A name that is not a URL is the provider's own id of a file that it stores.
  if (!/^[a-z]+:/i.test(fileUri)) return true;
  return Object.entries(supported)
    .filter(([type]) => ['*', '*/*', mimeType, mimeType.replace(/\/.*/, '/*')].includes(type))
    .some(([, patterns]) => patterns.some((pattern) => pattern.test(fileUri)));
}

function describe(part: InlineDataPart | FileDataPart): string {
  const { mimeType, displayName } = 'inlineData' in part ? part.inlineData : part.fileData;
  const name = displayName ?? ('fileData' in part ? part.fileData.fileUri : undefined);
  return name === undefined
    ? `a file of type ${mimeType}`
    : `the file ${JSON.stringify(name)} of type ${mimeType}`;
}
