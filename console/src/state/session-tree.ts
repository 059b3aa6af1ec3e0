import type { SessionRow } from '../api/types.ts';

/** A session in the list, and how many forks deep it is. */
export interface TreeRow {
  readonly session: SessionRow;
  readonly depth: number;
}

/** Puts each fork below the session that it was forked from, if that one is in the list. */
export function toTree(sessions: readonly SessionRow[]): readonly TreeRow[] {
  const ids = new Set(sessions.map(({ id }) => id));
  const children = Map.groupBy(sessions, ({ forked_from: from }) =>
    from != null && ids.has(from.session_id) ? from.session_id : '',
  );
  const rows: TreeRow[] = [];
  const add = (parent: string, depth: number): void => {
    for (const session of children.get(parent) ?? []) {
      rows.push({ session, depth });
      add(session.id, depth + 1);
    }
  };
  add('', 0);
  return rows;
}
