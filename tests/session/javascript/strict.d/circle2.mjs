import {a} from './circle3.mjs'; export const b = () => a;
