// Live progress. Without this script pages ask again by themselves, every few seconds.
const live = document.querySelectorAll("[data-live]");

async function look(part) {
  try {
    const answer = await fetch(part.dataset.live, { cache: "no-store" });
    if (!answer.ok) return true;
    const told = await answer.json();
    if (told.state !== part.dataset.state) return false;
    const bar = part.querySelector("progress");
    if (told.stage === undefined || !bar) return true;
    part.querySelector("[data-stage]").textContent = told.stage;
    part.querySelector("[data-left]").textContent = told.left;
    if (told.share === null) bar.removeAttribute("value");
    else bar.value = told.share;
    return true;
  } catch {
    return true; // the server is being restarted: ask again
  }
}

if (live.length) {
  const ask = async () => {
    const same = await Promise.all([...live].map(look));
    if (same.every(Boolean)) setTimeout(ask, 1000);
    else location.reload();
  };
  setTimeout(ask, 500);
}

// What is wrong is read first.
document.querySelector(".problem")?.focus();
