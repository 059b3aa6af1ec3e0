/** The begin of the names of PNML grammars, such as that of place/transition nets. */
export const GRAMMAR = 'http://www.pnml.org/version-2009/grammar/';
