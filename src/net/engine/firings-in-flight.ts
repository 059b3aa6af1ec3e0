import type { CompiledNet } from '../build/compile.ts';
import { runningPlaceName } from '../language/place-identity.ts';
import type { Firing } from '../journal/marking.ts';
import type { RecordSeq } from '../journal/record.ts';

/** The firings in flight by their place `running(t)`, oldest first. */
export class FiringsInFlight {
  readonly #net: CompiledNet;
  readonly #places = new Map<string, Map<RecordSeq, Firing>>();

  constructor(net: CompiledNet) {
    this.#net = net;
  }

  /** The firings by place and id. */
  get byPlace(): ReadonlyMap<string, ReadonlyMap<RecordSeq, Firing>> {
    return this.#places;
  }

  /** Adds or replaces a firing. @returns its place */
  set(firing: Firing): string {
    const place = this.#findPlace(firing);
    const known = this.#places.get(place);
    if (known === undefined) this.#places.set(place, new Map([[firing.id, firing]]));
    else known.set(firing.id, firing);
    return place;
  }

  /** Removes a firing. @returns its place */
  delete(firing: Firing): string {
    const place = this.#findPlace(firing);
    this.#places.get(place)?.delete(firing.id);
    return place;
  }

  /** Replaces all firings. */
  reload(firings: Iterable<Firing>): void {
    this.#places.clear();
    for (const firing of firings) this.set(firing);
  }

  /** The place of a firing. The net of a session that will be upgraded may not have its transition. */
  #findPlace({ t }: Firing): string {
    return this.#net.byName.get(t)?.running ?? runningPlaceName(t);
  }
}
