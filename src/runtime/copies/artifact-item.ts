import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { isChildSessionId, sha256Hex } from '../../core/index.ts';
import { parseJsonWithSchema } from '../../core/validation/parse-with-schema.ts';
import type { JsonObject, SessionKey } from '../../core/index.ts';
import type { ArtifactPart, ArtifactService } from '../../tools/index.ts';

/** A version of an artifact, in a copy. */
export interface ArtifactItem {
  readonly type: 'artifact';
  readonly session: SessionKey;
  readonly name: string;
  readonly version: number;
  readonly part: ArtifactPart;
  readonly customMetadata: Readonly<Record<string, string>>;
}

const text = v.string();
const fields = {
  thought: v.exactOptional(v.boolean()),
  providerMetadata: v.exactOptional(v.looseObject({})),
};
const artifact = v.strictObject({
  type: v.literal('artifact'),
  session: v.strictObject({ appName: text, userId: text, sessionId: text }),
  name: text,
  version: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  part: v.union([
    v.looseObject({ ...fields, text }),
    v.looseObject({ ...fields, inlineData: v.looseObject({ mimeType: text, data: text }) }),
    v.looseObject({ ...fields, fileData: v.looseObject({ fileUri: text }) }),
  ]),
  customMetadata: v.record(text, text),
});

/** @throws InvalidInputError with the path of the first wrong value */
export function parseArtifact(value: JsonObject): ArtifactItem {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked by the schema
  return parseJsonWithSchema(artifact, value, 'artifact') as unknown as ArtifactItem;
}

/**
 * Reads the artifacts of sessions with all versions. An artifact of a user is read once. Called agents use the artifacts of
 * the session that called them.
 */
export async function* exportArtifacts(
  artifacts: ArtifactService,
  sessions: Iterable<SessionKey>,
): AsyncGenerator<ArtifactItem, void, undefined> {
  const read = new Set<string>();
  for (const session of sessions) {
    if (isChildSessionId(session.sessionId)) continue;
    for (const name of await artifacts.list(session)) {
      const { appName, userId } = session;
      if (name.startsWith('user:')) {
        const id = JSON.stringify([appName, userId, name]);
        if (read.has(id)) continue;
        read.add(id);
      }
      const key = { session, name };
      for (const version of await artifacts.versions(key)) {
        const part = await artifacts.load(key, version);
        const about = await artifacts.describe(key, version);
        if (part === undefined || about === undefined) continue;
        const { customMetadata } = about;
        yield { type: 'artifact', session, name, version, part, customMetadata };
      }
    }
  }
}

/** Saves an artifact, once also when it is repeated, and not if it is there: those of a deleted session may still be. */
export async function importArtifact(
  artifacts: ArtifactService,
  item: ArtifactItem,
): Promise<void> {
  if (await isThere(artifacts, item)) return;
  const { session, name, version, part, customMetadata } = item;
  // An artifact of a user can come in the files of several sessions, with different versions.
  const content = sha256Hex(JSON.stringify([part, customMetadata]));
  const saveId = `import-${version}-${content}`;
  await artifacts.save({ session, name }, part, { saveId, customMetadata });
}

async function isThere(
  artifacts: ArtifactService,
  { session, name, version, part, customMetadata }: ArtifactItem,
): Promise<boolean> {
  const about = await artifacts.describe({ session, name }, version);
  if (about === undefined || !isDeepStrictEqual({ ...about.customMetadata }, customMetadata))
    return false;
  return isDeepStrictEqual(await artifacts.load({ session, name }, version), part);
}
