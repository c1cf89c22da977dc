import one, {two} from './common.cjs'; import {three} from './common.cjs'; export default [one, two, three];
