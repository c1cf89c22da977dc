import * as c from './circle1.mjs'; export const two=()=>c.one()+1;
