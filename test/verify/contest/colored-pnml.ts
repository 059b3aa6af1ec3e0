import { document } from './contest-net.ts';

/** A colored net in a short form, of which `toColoredPnml` writes a PNML document. */
export interface ColoredNet {
  readonly name: string;
  /** By name: the XML of the sort. */
  readonly sorts: Readonly<Record<string, string>>;
  /** By name of the variable: the name of its sort. */
  readonly variables: Readonly<Record<string, string>>;
  /** By name of the place: the name of its sort and the term of its initial marking. */
  readonly places: Readonly<Record<string, readonly [sort: string, marking?: string]>>;
  /** By name of the transition: its condition, and the terms of its arcs as `[place, term]`. */
  readonly transitions: Readonly<Record<string, ColoredTransition>>;
}

export interface ColoredTransition {
  readonly when?: string;
  readonly take: readonly (readonly [place: string, term: string])[];
  readonly give: readonly (readonly [place: string, term: string])[];
}

export const DOT = '<dot/>';
export const dot = '<dotconstant/>';

/** Returns a cyclic enumeration of the labels. */
export function cyclic(prefix: string, labels: readonly (string | number)[]): string {
  return `<cyclicenumeration>${labels.map((label) => `<feconstant id="${prefix}${label}" name="${label}"/>`).join('')}</cyclicenumeration>`;
}

export function intRange(start: number, end: number): string {
  return `<finiteintrange start="${start}" end="${end}"/>`;
}

export function product(...sorts: readonly string[]): string {
  return `<productsort>${sorts.map(user).join('')}</productsort>`;
}

export function variable(name: string): string {
  return `<variable refvariable="${name}"/>`;
}

export function constant(id: string): string {
  return `<useroperator declaration="${id}"/>`;
}

export function all(sort: string): string {
  return `<all>${user(sort)}</all>`;
}

/** Returns an operator with its subterms. */
export function apply(operator: string, ...terms: readonly string[]): string {
  return `<${operator}>${terms.map((term) => `<subterm>${term}</subterm>`).join('')}</${operator}>`;
}

export function times(count: number, term: string): string {
  return apply('numberof', `<numberconstant value="${count}"><positive/></numberconstant>`, term);
}

function user(sort: string): string {
  return `<usersort declaration="${sort}"/>`;
}

/** Writes a colored net as a PNML document of the type `symmetricnet`. */
export function toColoredPnml(net: ColoredNet): string {
  const declarations = [
    ...Object.entries(net.sorts).map(
      ([name, sort]) => `<namedsort id="${name}" name="${name}">${sort}</namedsort>`,
    ),
    ...Object.entries(net.variables).map(
      ([name, sort]) => `<variabledecl id="${name}" name="${name}">${user(sort)}</variabledecl>`,
    ),
  ];
  const label = (element: string, content: string): string =>
    `<${element}><structure>${content}</structure></${element}>`;
  const elements = [
    ...Object.entries(net.places).map(
      ([name, [sort, marking]]) =>
        `<place id="${name}">${label('type', user(sort))}${marking === undefined ? '' : label('hlinitialMarking', marking)}</place>`,
    ),
    ...Object.entries(net.transitions).map(
      ([name, { when }]) =>
        `<transition id="${name}">${when === undefined ? '' : label('condition', when)}</transition>`,
    ),
    ...Object.entries(net.transitions).flatMap(([name, { take, give }]) =>
      [
        ...take.map(([place, term]) => [place, name, term] as const),
        ...give.map(([place, term]) => [name, place, term] as const),
      ].map(
        ([source, target, term], index) =>
          `<arc id="${name}-${index}" source="${source}" target="${target}">${label('hlinscription', term)}</arc>`,
      ),
    ),
  ];
  const declared = `<structure><declarations>${declarations.join('')}</declarations></structure>`;
  return document(
    net.name,
    'symmetricnet',
    `<declaration>${declared}</declaration><page id="page">${elements.join('\n')}</page>`,
  );
}
