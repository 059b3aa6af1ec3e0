import { checkChoice, omitUndefined } from '../../core/internal.ts';
import { frozenJson, InvalidInputError, parseIdentity } from '../../core/index.ts';
import type { DocumentChange, DocumentQuery } from '../documents.ts';
import { DIRECTIONS } from './list-filters.ts';
import { parsePosition } from './parse-position.ts';

/** @throws InvalidInputError, NotSerializableError */
export function checkChanges(changes: readonly DocumentChange[]): readonly DocumentChange[] {
  const seen = new Set<string>();
  return changes.map(({ kind, id, version, value }, index) => {
    const field = `changes[${index}]`;
    parseIdentity(kind, `${field}.kind`);
    parseIdentity(id, `${field}.id`);
    parsePosition(version, `${field}.version`);
    const name = `${kind}\0${id}`;
    if (seen.has(name))
      throw new InvalidInputError(
        field,
        `changes document "${id}" a second time: pass one change per document.`,
      );
    seen.add(name);
    return {
      kind,
      id,
      version,
      ...omitUndefined({
        value: value === undefined ? undefined : frozenJson(value, `${field}.value`),
      }),
    };
  });
}

/** A query with all defaults filled in. A limit below 0 means no limit. */
export interface NormalizedDocumentQuery {
  readonly kind: string;
  readonly prefix: string;
  readonly after: string | undefined;
  readonly descending: boolean;
  readonly limit: number;
}

/** @throws InvalidInputError */
export function normalizeQuery(query: DocumentQuery): NormalizedDocumentQuery {
  checkChoice('order', query.order, DIRECTIONS);
  return {
    kind: parseIdentity(query.kind, 'kind'),
    prefix: query.prefix ?? '',
    after: query.after,
    descending: query.order === 'descending',
    limit: query.limit === undefined ? -1 : parsePosition(query.limit, 'limit'),
  };
}
