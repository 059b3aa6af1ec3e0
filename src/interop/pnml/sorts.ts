import { PnmlFormatError, PnmlUnsupportedError, shorten } from './pnml-errors.ts';
import type { LimitCheck } from './pnml-limits.ts';
import {
  childrenNamed,
  onlyChild,
  optionalChild,
  parseInteger,
  readAttribute,
} from './xml-element.ts';
import type { XmlElement } from './xml-element.ts';

/**
 * A finite set of colors. Colors are numbers from 0 to `size - 1`. The color of a product counts its last component
 * fastest.
 */
export interface Sort {
  /** Equal for sorts with the same colors: sorts are compared by what they contain, not by their names. */
  readonly key: number;
  readonly kind: 'dot' | 'enumeration' | 'cyclic' | 'range' | 'product';
  readonly size: number;
  /** The first number of a range. 0 for other sorts. */
  readonly start: number;
  /** The sorts of the components of a product. Empty for other sorts. */
  readonly components: readonly Sort[];
  /** The number of sorts that a product consists of, over all levels. 1 for other sorts. */
  readonly width: number;
  /** Returns the name of a color. That of a dot is empty. */
  readonly toLabel: (color: number) => string;
}

/** A constant that an enumeration declares. */
export interface Constant {
  readonly sort: Sort;
  readonly color: number;
}

/** A variable that the net declares. */
export interface Variable {
  readonly id: string;
  readonly label: string;
  readonly sort: Sort;
}

const DOT: Sort = {
  key: 0,
  kind: 'dot',
  size: 1,
  start: 0,
  components: [],
  width: 1,
  toLabel: () => '',
};

/** The sorts, constants and variables that a net declares, by id. */
export class Declarations {
  readonly constants: Map<string, Constant> = new Map<string, Constant>();
  readonly variables: Map<string, Variable> = new Map<string, Variable>();
  /** The sort of tokens without a value. */
  readonly dot: Sort = DOT;
  readonly #limits: LimitCheck;
  readonly #sorts = new Map<string, Sort>();
  readonly #declared: ReadonlyMap<string, XmlElement>;
  /** The named sorts that are being read: one that contains itself is rejected. */
  readonly #reading = new Set<string>();
  /** By a description of a sort: its key. Descriptions of products contain keys, so they stay short. */
  readonly #keys = new Map<string, number>();

  constructor(net: XmlElement, limits: LimitCheck) {
    this.#limits = limits;
    const elements = [net, ...childrenNamed(net, 'page')].flatMap(listDeclarations);
    this.#declared = new Map(
      elements
        .filter(({ name }) => name === 'namedsort')
        .map((element) => [readAttribute(element, 'id'), element]),
    );
    for (const id of this.#declared.keys()) this.#namedSort(id);
    for (const element of elements) this.#declare(element);
  }

  /**
   * Reads a sort: one of its own, or the name of a declared one.
   * @throws PnmlUnsupportedError if the sort is infinite or of another kind.
   */
  readSort(element: XmlElement): Sort {
    switch (element.name) {
      case 'usersort':
        return this.#usersort(element);
      case 'dot':
        return DOT;
      case 'finiteenumeration':
      case 'cyclicenumeration':
        return this.#enumeration(element);
      case 'finiteintrange':
        return this.#range(element);
      case 'productsort':
        return this.productSort(
          element.children.map((child) => this.readSort(child)),
          element,
        );
      default:
        throw new PnmlUnsupportedError(
          'the sort is not finite, or not known; expected a dot, finiteenumeration, cyclicenumeration, finiteintrange, productsort or usersort. Use one of these.',
          element.at,
        );
    }
  }

  #declare(element: XmlElement): void {
    switch (element.name) {
      case 'namedsort':
        return;
      case 'variabledecl': {
        const id = readAttribute(element, 'id');
        const label = element.attributes.get('name') ?? id;
        this.variables.set(id, { id, label, sort: this.readSort(onlyElement(element)) });
        return;
      }
      default:
        throw new PnmlUnsupportedError(
          'the declaration has no counterpart; expected namedsort or variabledecl. Remove it.',
          element.at,
        );
    }
  }

  #usersort(element: XmlElement): Sort {
    const id = readAttribute(element, 'declaration');
    const sort = this.#namedSort(id);
    if (sort !== undefined) return sort;
    throw new PnmlFormatError(
      `the sort "${shorten(id)}" is not declared. Declare it as a namedsort of the net.`,
      element.at,
    );
  }

  #namedSort(id: string): Sort | undefined {
    const known = this.#sorts.get(id);
    const element = this.#declared.get(id);
    if (known !== undefined || element === undefined) return known;
    if (this.#reading.has(id)) {
      throw new PnmlFormatError('the sort contains itself. Change its declaration.', element.at);
    }
    this.#reading.add(id);
    const sort = this.readSort(onlyElement(element));
    this.#reading.delete(id);
    this.#sorts.set(id, sort);
    return sort;
  }

  #enumeration(element: XmlElement): Sort {
    const constants = childrenNamed(element, 'feconstant');
    const ids = constants.map((constant) => readAttribute(constant, 'id'));
    const labels = constants.map(
      (constant, index) => constant.attributes.get('name') ?? ids[index] ?? '',
    );
    if (constants.length === 0 || constants.length < element.children.length) {
      throw new PnmlFormatError(
        'an enumeration needs feconstant elements only, at least one.',
        element.at,
      );
    }
    this.#checkSize(constants.length, element);
    const isUnique = new Set(labels).size === labels.length;
    const sort: Sort = {
      key: this.#key(`${element.name}:${JSON.stringify(ids)}`),
      kind: element.name === 'cyclicenumeration' ? 'cyclic' : 'enumeration',
      size: constants.length,
      start: 0,
      components: [],
      width: 1,
      toLabel: (color) => (isUnique ? labels : ids)[color] ?? '',
    };
    ids.forEach((id, color) => {
      const known = this.constants.get(id);
      if (known !== undefined && known.sort.key !== sort.key) {
        throw new PnmlFormatError(
          `the constant "${shorten(id)}" is declared twice. Give each constant an id of its own.`,
          element.at,
        );
      }
      this.constants.set(id, { sort, color });
    });
    return sort;
  }

  #range(element: XmlElement): Sort {
    const { at } = element;
    const start = parseInteger(readAttribute(element, 'start'), Number.MIN_SAFE_INTEGER, at);
    const end = parseInteger(readAttribute(element, 'end'), start, at);
    this.#checkSize(end - start + 1, element);
    return {
      key: this.#key(`range:${start}:${end}`),
      kind: 'range',
      size: end - start + 1,
      start,
      components: [],
      width: 1,
      toLabel: (color) => String(start + color),
    };
  }

  /**
   * Returns the sort of tuples with components of these sorts. `element` is for messages.
   * @throws PnmlLimitError if it has too many colors.
   */
  productSort(components: readonly Sort[], element: XmlElement): Sort {
    if (components.length === 0)
      throw new PnmlFormatError('a product needs components. Add one.', element.at);
    const size = components.reduce((product, sort) => product * sort.size, 1);
    const width = components.reduce((sum, sort) => sum + sort.width, 0);
    this.#checkSize(Math.max(size, width), element);
    return {
      key: this.#key(`product:${components.map(({ key }) => key).join()}`),
      kind: 'product',
      size,
      start: 0,
      components,
      width,
      toLabel: (color) =>
        splitColor(components, color)
          .map((part, index) => components[index]?.toLabel(part) ?? '')
          .join(','),
    };
  }

  #key(description: string): number {
    const known = this.#keys.get(description);
    if (known !== undefined) return known;
    const key = this.#keys.size + 1;
    this.#keys.set(description, key);
    return key;
  }

  #checkSize(size: number, element: XmlElement): void {
    this.#limits.atMost('colors', size, `the sort has ${size} colors`, element.at);
  }
}

/** Returns the color of a product with these components. */
export function joinColor(components: readonly Sort[], parts: readonly number[]): number {
  return components.reduce((color, { size }, index) => color * size + (parts[index] ?? 0), 0);
}

function splitColor(components: readonly Sort[], color: number): readonly number[] {
  const parts: number[] = [];
  let rest = color;
  for (const { size } of components.toReversed()) {
    parts.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return parts;
}

function listDeclarations(element: XmlElement): readonly XmlElement[] {
  return childrenNamed(element, 'declaration').flatMap((declaration) => {
    const structure = optionalChild(declaration, 'structure');
    return structure === undefined ? [] : onlyChild(structure, 'declarations').children;
  });
}

/** Returns the one element inside an element. */
export function onlyElement(element: XmlElement): XmlElement {
  const [child, second] = element.children;
  if (child !== undefined && second === undefined) return child;
  throw new PnmlFormatError(
    `it contains ${element.children.length} elements; expected exactly one. Correct it.`,
    element.at,
  );
}
