import type { JsonObject } from '../../core/index.ts';
import type { StoreItem } from '../../store/index.ts';
import { parseArtifact, type ArtifactItem } from './artifact-item.ts';
import type { CopySource } from './copy-file.ts';
import { readCopyLines, type CopyLine } from './copy-lines.ts';
import { DamagedCopyError } from './damaged-copy-error.ts';
import { isItemType, parseItem } from './parse-item.ts';
import { SessionCheck } from './session-check.ts';

/** What the first line of a file must say. */
export interface CopyForm {
  readonly type: string;
  readonly version: number;
  /** What such a file is called. */
  readonly name: string;
  /** The types of lines that are only for readers. */
  readonly skips?: readonly string[];
}

/** Reads the items of a copy. @throws DamagedCopyError */
export async function* readCopy(
  { name: file, read }: CopySource,
  form: CopyForm,
): AsyncGenerator<StoreItem | ArtifactItem, void, undefined> {
  let isHead = true;
  for await (const line of readCopyLines(read(), file)) {
    if (isHead) checkHead(line.value, file, form);
    else if (!isSkipped(line.value, form)) yield parseLine(line, file);
    isHead = false;
  }
  if (isHead) throw new DamagedCopyError(file, 'is empty');
}

function isSkipped({ type }: JsonObject, { skips = [] }: CopyForm): boolean {
  return typeof type === 'string' && skips.includes(type);
}

function checkHead({ type, version, redacted }: JsonObject, file: string, form: CopyForm): void {
  if (type !== form.type) throw new DamagedCopyError(file, `is no ${form.name}`);
  if (version !== form.version)
    throw new DamagedCopyError(
      file,
      `has version ${JSON.stringify(version)} of its format, and this release reads version ${form.version}`,
    );
  if (redacted === true)
    throw new DamagedCopyError(file, 'was written without its values, so it cannot continue');
}

/** @throws DamagedCopyError */
function parseLine({ number, value }: CopyLine, file: string): StoreItem | ArtifactItem {
  const { type } = value;
  try {
    if (type === 'artifact') return parseArtifact(value);
    if (isItemType(type)) return parseItem(type, value);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new DamagedCopyError(file, `is damaged: line ${number}: ${problem}`, { cause: error });
  }
  throw new DamagedCopyError(
    file,
    `is damaged or of a later release: line ${number} has the type ${JSON.stringify(type)}`,
  );
}

/** Checks the journals of the sessions while items are read. @throws DamagedCopyError */
export async function* checkItems(
  items: AsyncIterable<StoreItem | ArtifactItem>,
  file: string,
): AsyncGenerator<StoreItem | ArtifactItem, void, undefined> {
  let check: SessionCheck | undefined;
  const verify = (item: StoreItem | ArtifactItem | undefined): void => {
    if (item?.type === 'input' || item?.type === 'snapshot' || item?.type === 'step') {
      if (check === undefined) throw new Error(`a ${item.type} does not follow a session`);
      check.add(item);
      return;
    }
    check?.finish();
    check = item?.type === 'session' ? new SessionCheck(item) : undefined;
  };
  const verifyNext = (item?: StoreItem | ArtifactItem): void => {
    try {
      verify(item);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      throw new DamagedCopyError(file, `is damaged: ${problem}`, { cause: error });
    }
  };
  for await (const item of items) {
    verifyNext(item);
    yield item;
  }
  verifyNext();
}
