import { compile, faultPlace, unhandledFaultPlace } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import type { CompiledOutput, CompiledTransition } from '../../net/internal.ts';
import { GRAMMAR } from './grammar.ts';

/** A difference between a net and its PNML document. */
export interface PnmlLoss {
  /** The transition. */
  readonly where: string;
  /** A phrase: the property of the net, and how it was exported. */
  readonly what: string;
}

/** A net as a PNML document. */
export interface ExportedPnml {
  /** XML of the type `ptnet`. */
  readonly document: string;
  /** Structures that PNML does not have. Empty if there are none. */
  readonly losses: readonly PnmlLoss[];
}

/** Every net has these places. They are written only if a transition takes from them. */
const FAULTS: ReadonlySet<string> = new Set([faultPlace.name, unhandledFaultPlace.name]);
/** More variants of one transition than this are not written. */
const MAX_VARIANTS = 64;

/**
 * Exports the place/transition skeleton of a net as a PNML document (ISO/IEC 15909-2), expanded as it runs: an effect is
 * one transition for its start, the place `running(effect)`, and one transition for each way to end. Each alternative and
 * each number of tokens that a transition may give is a transition of its own. Values, lists, maps, outlets, times,
 * priorities and faults are left out.
 * @throws NetBuildError if the net breaks a build rule.
 */
export function toPnml(net: Net): ExportedPnml {
  const compiled = compile(net);
  const writer = new PnmlWriter();
  for (const [name, { kind }] of compiled.places)
    if (kind === 'tokens' && !FAULTS.has(name)) writer.place(name);
  for (const { place, times } of compiled.initial) writer.mark(place.name, times);
  for (const t of compiled.transitions) if (t.spec.kind === 'effect') writer.place(t.running);
  const losses: PnmlLoss[] = [];
  for (const t of compiled.transitions) exportTransition(t, writer, losses);
  return { document: writer.write(net.name), losses };
}

/** The arcs of one transition of the document, as `[place, weight]`. */
interface ExportedArcs {
  readonly take: (readonly [string, number])[];
  readonly read: (readonly [string, number])[];
  readonly inhibit: string[];
  readonly reset: string[];
}

function exportTransition(t: CompiledTransition, writer: PnmlWriter, losses: PnmlLoss[]): void {
  const lose = (what: string): void => void losses.push({ where: t.name, what });
  const arcs = exportInputs(t, lose);
  if (t.spec.kind === 'pure') {
    for (const [name, give] of listVariants(t, lose)) writer.transition(name, arcs, give);
    return;
  }
  const { concurrency } = t.spec;
  if (concurrency === 1) arcs.inhibit.push(t.running);
  else if (concurrency !== undefined) lose(`has a concurrency of ${concurrency}: exported without`);
  writer.transition(t.name, arcs, new Map([[t.running, 1]]));
  const ending = { take: [[t.running, 1] as const], read: [], inhibit: [], reset: [] };
  for (const [name, give] of listVariants(t, lose))
    writer.transition(`ended ${name}`, ending, give);
}

function exportInputs(t: CompiledTransition, lose: (what: string) => void): ExportedArcs {
  const arcs: ExportedArcs = {
    take: [],
    read: [],
    inhibit: t.unless.map(({ name }) => name),
    reset: t.reset.map(({ name }) => name),
  };
  for (const { place, mode, count, getKey } of t.takes) {
    if (getKey !== undefined) lose(`takes from "${place}" by key: exported without its key`);
    if (count > 0) arcs.take.push([place, count]);
    if (mode === 'all') arcs.reset.push(place);
  }
  for (const { place, kind, count } of t.reads) {
    if ((kind === 'tokens' || kind === 'running') && count > 0) arcs.read.push([place, count]);
  }
  return arcs;
}

/** Lists what a firing may give, with a name for each variant: one for each alternative and each number of tokens. */
function listVariants(
  t: CompiledTransition,
  lose: (what: string) => void,
): readonly (readonly [string, ReadonlyMap<string, number>])[] {
  return [...t.alternatives].flatMap(([alternative, { outputs }]) => {
    const counted = outputs.filter(({ place }) => place.kind === 'tokens');
    const choices = counted.map((output) => listCounts(t, output, lose));
    const variants = choices.reduce((product, { length }) => product * length, 1);
    if (variants > MAX_VARIANTS)
      lose(`gives tokens in ${variants} ways: exported with all or none`);
    const limited =
      variants > MAX_VARIANTS
        ? choices.map((counts) => [...new Set([counts[0] ?? 0, counts.at(-1) ?? 0])])
        : choices;
    const name = alternative === '' ? t.name : `${t.name} ${alternative}`;
    const gives = combine(counted, limited).slice(0, MAX_VARIANTS);
    return gives.map((give, index) => [index === 0 ? name : `${name} ${index + 1}`, give] as const);
  });
}

/** Lists the numbers of tokens that an output may give. */
function listCounts(
  t: CompiledTransition,
  { output }: CompiledOutput,
  lose: (what: string) => void,
): readonly number[] {
  switch (output.arc) {
    case 'optional':
      return [0, 1];
    case 'upTo':
      return Array.from({ length: output.max + 1 }, (_, count) => count);
    case 'each': {
      const input = t.takes.find(({ key }) => key === output.input);
      if (input !== undefined && input.mode !== 'all') return [input.count];
      lose(`gives each() token of all(): exported with one token`);
      return [1];
    }
    default:
      return [1];
  }
}

function combine(
  outputs: readonly CompiledOutput[],
  choices: readonly (readonly number[])[],
): readonly ReadonlyMap<string, number>[] {
  let gives: readonly ReadonlyMap<string, number>[] = [new Map()];
  outputs.forEach(({ place }, index) => {
    gives = gives.flatMap((give) =>
      (choices[index] ?? []).map((count) =>
        count === 0 ? give : new Map([...give, [place.name, (give.get(place.name) ?? 0) + count]]),
      ),
    );
  });
  return gives;
}

/** Collects the elements of a document. Ids are numbered, because a name need not be a valid id. */
class PnmlWriter {
  readonly #places = new Map<string, { readonly id: string; tokens: number }>();
  readonly #transitions: string[] = [];
  readonly #arcs: string[] = [];

  place(name: string): { tokens: number; readonly id: string } {
    const place = this.#places.get(name) ?? { id: `p${this.#places.size + 1}`, tokens: 0 };
    this.#places.set(name, place);
    return place;
  }

  mark(name: string, tokens: number): void {
    this.place(name).tokens += tokens;
  }

  transition(name: string, arcs: ExportedArcs, give: ReadonlyMap<string, number>): void {
    const id = `t${this.#transitions.length + 1}`;
    this.#transitions.push(`<transition id="${id}">${label('name', name)}</transition>`);
    const add = (source: string, target: string, content: string): void => {
      const arc = `a${this.#arcs.length + 1}`;
      this.#arcs.push(`<arc id="${arc}" source="${source}" target="${target}">${content}</arc>`);
    };
    const typed = (place: string, type: string, weight?: number): void =>
      add(
        this.place(place).id,
        id,
        `<type value="${type}"/>${weight === undefined ? '' : label('inscription', String(weight))}`,
      );
    for (const [place, weight] of arcs.take) add(this.place(place).id, id, inscription(weight));
    for (const [place, weight] of arcs.read) typed(place, 'read', weight);
    for (const place of arcs.inhibit) typed(place, 'inhibitor');
    for (const place of new Set(arcs.reset)) typed(place, 'reset');
    for (const [place, weight] of give) add(id, this.place(place).id, inscription(weight));
  }

  write(name: string): string {
    const places = [...this.#places].map(
      ([text, { id, tokens }]) =>
        `<place id="${id}">${label('name', text)}${tokens === 0 ? '' : label('initialMarking', String(tokens))}</place>`,
    );
    const elements = [...places, ...this.#transitions, ...this.#arcs].join('\n');
    return `<?xml version="1.0" encoding="UTF-8"?>
<pnml xmlns="${GRAMMAR}pnml">
<net id="net" type="${GRAMMAR}ptnet">${label('name', name)}<page id="page">
${elements}
</page></net>
</pnml>
`;
  }
}

function inscription(weight: number): string {
  return weight === 1 ? '' : label('inscription', String(weight));
}

function label(element: string, text: string): string {
  return `<${element}><text>${escapeText(text)}</text></${element}>`;
}

/** Characters that XML cannot contain are replaced. */
function escapeText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
