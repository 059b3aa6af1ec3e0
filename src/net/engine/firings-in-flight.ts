import { runningPlaceName } from '../language/place-identity.ts';
import type { Firing } from '../journal/marking.ts';
import type { RecordSeq } from '../journal/record.ts';

/** The firings in flight by their place `running(t)`, oldest first. */
export class FiringsInFlight {
  readonly #places = new Map<string, Map<RecordSeq, Firing>>();

  /** The firings by place and id. */
  get byPlace(): ReadonlyMap<string, ReadonlyMap<RecordSeq, Firing>> {
    return this.#places;
  }

  /** Adds or replaces a firing. @returns its place */
  set(firing: Firing): string {
    const place = runningPlaceName(firing.t);
    const known = this.#places.get(place);
    if (known === undefined) this.#places.set(place, new Map([[firing.id, firing]]));
    else known.set(firing.id, firing);
    return place;
  }

  /** Removes a firing. @returns its place */
  delete(firing: Firing): string {
    const place = runningPlaceName(firing.t);
    this.#places.get(place)?.delete(firing.id);
    return place;
  }

  /** Replaces all firings. */
  reload(firings: Iterable<Firing>): void {
    this.#places.clear();
    for (const firing of firings) this.set(firing);
  }
}
