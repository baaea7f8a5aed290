// Elements of HTML and SVG.

export const element = id => document.getElementById(id);

// make returns a new element of HTML with properties and children.
export function make(kind, properties = {}, ...children) {
  const made = Object.assign(document.createElement(kind), properties);
  made.append(...children);
  return made;
}

// svg returns a new element of SVG with attributes and children.
export function svg(kind, attributes, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', kind);
  for (const [name, v] of Object.entries(attributes)) made.setAttribute(name, v);
  made.append(...children);
  return made;
}
