import {b} from './circle2.mjs'; export const a = 1; export default () => b();
