import type { JSX } from 'preact';
import type { SessionNet } from '../api/types.ts';
import type { MarkingView } from './token-view.ts';
import type { RecordMoves } from '../session/record-moves.ts';

/** The net as text: what is in each place, and which effects run. */
export function PlaceTable({
  net,
  marking,
  moves,
  changed,
  onChoose,
}: {
  readonly net: SessionNet;
  readonly marking: MarkingView;
  readonly moves: RecordMoves;
  /** The record that changed each place last. */
  readonly changed: ReadonlyMap<string, number>;
  readonly onChoose: (node: string) => void;
}): JSX.Element {
  const rows = net.places
    .map((place) => ({ ...place, count: marking.places.get(place.name)?.count ?? 0 }))
    .toSorted((a, b) => Number(b.count > 0) - Number(a.count > 0) || a.name.localeCompare(b.name));
  return (
    <div class="place-table" tabIndex={0} role="region" aria-label="Places of the net">
      <table>
        <thead>
          <tr>
            <th scope="col">Place</th>
            <th scope="col">Kind</th>
            <th scope="col" class="cell-number">
              Count
            </th>
            <th scope="col" class="cell-number">
              Last changed
            </th>
          </tr>
        </thead>
        <tbody>
          {[...marking.running].map(([name, effects]) => (
            <tr key={`t:${name}`} class="running-row">
              <th scope="row">
                <button type="button" class="link mono" onClick={() => onChoose(`t:${name}`)}>
                  {name}
                </button>
              </th>
              <td>runs</td>
              <td class="cell-number">{effects.length}</td>
              <td class="cell-number">record {effects[0]?.firing}</td>
            </tr>
          ))}
          {rows.map(({ name, kind, count, environment, owed }) => (
            <tr
              key={name}
              class={count > 0 ? 'marked-row' : ''}
              data-place={name}
              data-count={count}
            >
              <th scope="row">
                <button type="button" class="link mono" onClick={() => onChoose(`p:${name}`)}>
                  {name}
                </button>
              </th>
              <td class="muted">
                {kind}
                {environment ? ', from outside' : ''}
                {owed ? ', owed' : ''}
              </td>
              <td class="cell-number">{count}</td>
              <td class="cell-number muted">
                {moves.given.has(name) || moves.taken.has(name)
                  ? 'now'
                  : changed.has(name)
                    ? `record ${changed.get(name)}`
                    : ''}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
