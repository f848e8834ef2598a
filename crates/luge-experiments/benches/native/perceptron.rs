// Written by `luge::bench::native::source`; renewed by `LUGE_RENEW=1 cargo test --workspace --test native`.
pub(super) fn run(tapes: &mut [Vec<u8>; 13], heads: &mut [usize; 13], most_steps: u64) -> u64 {
    let [t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12] = tapes;
    let t0 = &mut t0[..];
    let t1 = &mut t1[..];
    let t2 = &mut t2[..];
    let t3 = &mut t3[..];
    let t4 = &mut t4[..];
    let t5 = &mut t5[..];
    let t6 = &mut t6[..];
    let t7 = &mut t7[..];
    let t8 = &mut t8[..];
    let t9 = &mut t9[..];
    let t10 = &mut t10[..];
    let t11 = &mut t11[..];
    let t12 = &mut t12[..];
    let [mut h0, mut h1, mut h2, mut h3, mut h4, mut h5, mut h6, mut h7, mut h8, mut h9, mut h10, h11, mut h12] = *heads;
    let mut state = 0_u32;
    let mut steps = 0;
    while steps < most_steps {
        match state {
            0 => {
                { h0 += 1; h1 += 1; h2 += 1; state = 1; }
            }
            1 => {
                { t11[h11] = 1; state = 2; }
            }
            2 => {
                let s11 = t11[h11];
                if s11 == 0 { state = 3; }
                else if s11 == 1 { t11[h11] = 0; state = 4; }
                else { break }
            }
            4 => {
                let s1 = t1[h1]; let s2 = t2[h2]; let s3 = t3[h3];
                if s1 == 1 && s2 == 0 && s3 == 0 { t10[h10] = 0; h3 += 1; h7 += 1; h10 += 1; h12 += 1; state = 5; }
                else if s1 == 1 && s2 == 0 && s3 == 1 { t10[h10] = 1; h3 += 1; h7 += 1; h10 += 1; h12 += 1; state = 5; }
                else if s1 == 1 && s2 == 1 { h0 -= 1; h1 -= 1; h2 -= 1; state = 65; }
                else { break }
            }
            5 => {
                let s3 = t3[h3]; let s7 = t7[h7];
                if s3 == 0 && s7 == 0 { t10[h10] = 0; h3 += 1; h7 += 1; h10 += 1; h12 += 1; }
                else if s3 == 1 && s7 == 0 { t10[h10] = 1; h3 += 1; h7 += 1; h10 += 1; h12 += 1; }
                else if s7 == 1 { h7 -= 1; h10 -= 1; state = 6; }
                else { break }
            }
            6 => {
                let s7 = t7[h7];
                if s7 == 0 { h7 -= 1; h10 -= 1; }
                else if s7 == 1 { h8 += 1; state = 7; }
                else { break }
            }
            7 => {
                let s0 = t0[h0]; let s8 = t8[h8]; let s10 = t10[h10];
                if s0 == 0 && s8 == 0 { h0 += 1; h1 += 1; h2 += 1; h4 += 1; h5 += 1; h6 += 1; state = 66; }
                else if s0 == 1 && s8 == 0 { h0 += 1; h1 += 1; h2 += 1; h6 += 1; state = 67; }
                else if s8 == 1 && s10 == 0 { h7 += 1; h10 += 1; state = 15; }
                else if s8 == 1 && s10 == 1 { h7 += 1; h10 += 1; state = 16; }
                else { break }
            }
            8 => {
                let s4 = t4[h4]; let s7 = t7[h7]; let s10 = t10[h10];
                if s4 == 0 && s7 == 0 { h4 += 1; h5 += 1; h7 -= 1; }
                else if s4 == 0 && s7 == 1 { h4 += 1; h5 += 1; h7 -= 1; h10 += 1; state = 9; }
                else if s4 == 1 && s7 == 0 { t4[h4] = 0; h4 += 1; h5 += 1; h7 -= 1; }
                else if s4 == 1 && s7 == 1 && s10 == 0 { t4[h4] = 0; t10[h10] = 1; h4 += 1; h5 += 1; h7 -= 1; h10 += 1; state = 9; }
                else if s4 == 1 && s7 == 1 && s10 == 1 { t4[h4] = 0; t10[h10] = 0; h4 += 1; h5 += 1; h7 -= 1; h10 += 1; state = 10; }
                else { break }
            }
            9 => {
                let s4 = t4[h4]; let s7 = t7[h7]; let s10 = t10[h10];
                if s4 == 0 && s7 == 0 { h4 += 1; h5 += 1; h7 -= 1; h10 += 1; }
                else if s4 == 1 && s7 == 0 && s10 == 0 { t4[h4] = 0; t10[h10] = 1; h4 += 1; h5 += 1; h7 -= 1; h10 += 1; }
                else if s4 == 1 && s7 == 0 && s10 == 1 { t4[h4] = 0; t10[h10] = 0; h4 += 1; h5 += 1; h7 -= 1; h10 += 1; state = 10; }
                else if s7 == 1 { h4 -= 1; h5 -= 1; h7 += 1; h10 -= 1; state = 11; }
                else { break }
            }
            10 => {
                let s4 = t4[h4]; let s7 = t7[h7]; let s10 = t10[h10];
                if s4 == 0 && s7 == 0 && s10 == 0 { t10[h10] = 1; h4 += 1; h5 += 1; h7 -= 1; h10 += 1; state = 9; }
                else if s4 == 0 && s7 == 0 && s10 == 1 { t10[h10] = 0; h4 += 1; h5 += 1; h7 -= 1; h10 += 1; }
                else if s4 == 1 && s7 == 0 { t4[h4] = 0; h4 += 1; h5 += 1; h7 -= 1; h10 += 1; }
                else if s7 == 1 { h4 -= 1; h5 -= 1; h7 += 1; h10 -= 1; state = 11; }
                else { break }
            }
            11 => {
                let s7 = t7[h7];
                if s7 == 0 { h4 -= 1; h5 -= 1; h7 += 1; h10 -= 1; }
                else if s7 == 1 { h4 -= 1; h5 -= 1; h7 += 1; state = 12; }
                else { break }
            }
            12 => {
                let s7 = t7[h7];
                if s7 == 0 { h4 -= 1; h5 -= 1; h7 += 1; }
                else if s7 == 1 { h3 += 1; h7 += 1; h12 += 1; state = 13; }
                else { break }
            }
            13 => {
                let s7 = t7[h7];
                if s7 == 0 { h3 += 1; h7 += 1; h12 += 1; }
                else if s7 == 1 { h7 -= 1; state = 14; }
                else { break }
            }
            14 => {
                let s7 = t7[h7];
                if s7 == 0 { h7 -= 1; }
                else if s7 == 1 { h8 += 1; state = 7; }
                else { break }
            }
            15 => {
                let s7 = t7[h7]; let s10 = t10[h10];
                if s7 == 0 && s10 == 0 { h7 += 1; h10 += 1; }
                else if s7 == 0 && s10 == 1 { h7 += 1; h10 += 1; state = 16; }
                else if s7 == 1 { h7 -= 1; h10 -= 1; state = 17; }
                else { break }
            }
            16 => {
                let s7 = t7[h7]; let s10 = t10[h10];
                if s7 == 0 && s10 == 0 { h7 += 1; h10 += 1; state = 18; }
                else if s7 == 0 && s10 == 1 { h7 += 1; h10 += 1; }
                else if s7 == 1 { h7 -= 1; h10 -= 1; state = 17; }
                else { break }
            }
            17 => {
                let s0 = t0[h0]; let s7 = t7[h7];
                if s0 == 0 && s7 == 1 { h0 += 1; h1 += 1; h2 += 1; h7 += 1; state = 20; }
                else if s0 == 1 && s7 == 1 { h0 += 1; h1 += 1; h2 += 1; h7 += 1; state = 21; }
                else if s7 == 0 { h7 -= 1; h10 -= 1; }
                else { break }
            }
            18 => {
                let s7 = t7[h7]; let s10 = t10[h10];
                if s7 == 0 && s10 == 0 { h7 += 1; h10 += 1; }
                else if s7 == 0 && s10 == 1 { h7 += 1; h10 += 1; state = 16; }
                else if s7 == 1 { h7 -= 1; h10 -= 1; state = 19; }
                else { break }
            }
            19 => {
                let s7 = t7[h7];
                if s7 == 0 { h7 -= 1; h10 -= 1; }
                else if s7 == 1 { h0 += 1; h1 += 1; h2 += 1; state = 25; }
                else { break }
            }
            20 => {
                let s0 = t0[h0]; let s7 = t7[h7];
                if s0 == 0 && s7 == 0 { h0 += 1; h1 += 1; h2 += 1; h7 += 1; }
                else if s0 == 1 && s7 == 0 { h0 += 1; h1 += 1; h2 += 1; h7 += 1; state = 21; }
                else if s7 == 1 { h7 -= 1; state = 22; }
                else { break }
            }
            21 => {
                let s0 = t0[h0]; let s7 = t7[h7];
                if s0 == 0 && s7 == 0 { h0 += 1; h1 += 1; h2 += 1; h7 += 1; state = 23; }
                else if s0 == 1 && s7 == 0 { h0 += 1; h1 += 1; h2 += 1; h7 += 1; }
                else if s7 == 1 { h7 -= 1; state = 22; }
                else { break }
            }
            22 => {
                let s7 = t7[h7]; let s10 = t10[h10];
                if s7 == 0 { h7 -= 1; }
                else if s7 == 1 && s10 == 0 { h7 += 1; h10 += 1; state = 26; }
                else if s7 == 1 && s10 == 1 { h7 += 1; h10 += 1; state = 27; }
                else { break }
            }
            23 => {
                let s0 = t0[h0]; let s7 = t7[h7];
                if s0 == 0 && s7 == 0 { h0 += 1; h1 += 1; h2 += 1; h7 += 1; }
                else if s0 == 1 && s7 == 0 { h0 += 1; h1 += 1; h2 += 1; h7 += 1; state = 21; }
                else if s7 == 1 { h7 -= 1; state = 24; }
                else { break }
            }
            24 => {
                let s7 = t7[h7];
                if s7 == 0 { h7 -= 1; }
                else if s7 == 1 { t11[h11] = 1; state = 49; }
                else { break }
            }
            25 => {
                let s1 = t1[h1]; let s2 = t2[h2]; let s10 = t10[h10];
                if s1 == 0 && s2 == 0 { h0 += 1; h1 += 1; h2 += 1; }
                else if s1 == 1 && s2 == 0 && s10 == 0 { h7 += 1; h10 += 1; state = 26; }
                else if s1 == 1 && s2 == 0 && s10 == 1 { h7 += 1; h10 += 1; state = 27; }
                else if s1 == 0 && s2 == 1 && s10 == 0 { h7 += 1; h10 += 1; state = 26; }
                else if s1 == 0 && s2 == 1 && s10 == 1 { h7 += 1; h10 += 1; state = 27; }
                else if s1 == 1 && s2 == 1 && s10 == 0 { h7 += 1; h10 += 1; state = 26; }
                else if s1 == 1 && s2 == 1 && s10 == 1 { h7 += 1; h10 += 1; state = 27; }
                else { break }
            }
            26 => {
                let s7 = t7[h7]; let s10 = t10[h10];
                if s7 == 0 && s10 == 0 { h7 += 1; h10 += 1; }
                else if s7 == 0 && s10 == 1 { h7 += 1; h10 += 1; state = 27; }
                else if s7 == 1 { h7 -= 1; h10 -= 1; state = 28; }
                else { break }
            }
            27 => {
                let s7 = t7[h7]; let s10 = t10[h10];
                if s7 == 0 && s10 == 0 { h7 += 1; h10 += 1; state = 26; }
                else if s7 == 0 && s10 == 1 { h7 += 1; h10 += 1; }
                else if s7 == 1 { h7 -= 1; h10 -= 1; state = 29; }
                else { break }
            }
            28 => {
                let s7 = t7[h7];
                if s7 == 0 { h7 -= 1; h10 -= 1; }
                else if s7 == 1 { h0 -= 1; h1 -= 1; h2 -= 1; state = 30; }
                else { break }
            }
            29 => {
                let s7 = t7[h7];
                if s7 == 0 { h7 -= 1; h10 -= 1; }
                else if s7 == 1 { h0 -= 1; h1 -= 1; h2 -= 1; state = 48; }
                else { break }
            }
            30 => {
                let s0 = t0[h0]; let s1 = t1[h1]; let s2 = t2[h2];
                if s0 == 0 && s1 == 1 && s2 == 0 { h0 += 1; h1 += 1; h2 += 1; h7 += 1; state = 31; }
                else if s0 == 0 && s1 == 0 && s2 == 1 { h0 += 1; h1 += 1; h2 += 1; h7 += 1; state = 31; }
                else if s0 == 0 && s1 == 1 && s2 == 1 { h0 += 1; h1 += 1; h2 += 1; h7 += 1; state = 31; }
                else if s0 == 1 && s1 == 1 && s2 == 0 { h0 += 1; h1 += 1; h2 += 1; h7 += 1; state = 32; }
                else if s0 == 1 && s1 == 0 && s2 == 1 { h0 += 1; h1 += 1; h2 += 1; h7 += 1; state = 32; }
                else if s0 == 1 && s1 == 1 && s2 == 1 { h0 += 1; h1 += 1; h2 += 1; h7 += 1; state = 32; }
                else if s1 == 0 && s2 == 0 { h0 -= 1; h1 -= 1; h2 -= 1; }
                else { break }
            }
            31 => {
                let s0 = t0[h0]; let s7 = t7[h7];
                if s0 == 0 && s7 == 0 { h0 += 1; h1 += 1; h2 += 1; h7 += 1; }
                else if s0 == 1 && s7 == 0 { h0 += 1; h1 += 1; h2 += 1; h7 += 1; state = 32; }
                else if s7 == 1 { h7 -= 1; state = 33; }
                else { break }
            }
            32 => {
                let s0 = t0[h0]; let s7 = t7[h7];
                if s0 == 0 && s7 == 0 { h0 += 1; h1 += 1; h2 += 1; h7 += 1; state = 31; }
                else if s0 == 1 && s7 == 0 { h0 += 1; h1 += 1; h2 += 1; h7 += 1; }
                else if s7 == 1 { h7 -= 1; state = 34; }
                else { break }
            }
            33 => {
                let s7 = t7[h7];
                if s7 == 0 { h7 -= 1; }
                else if s7 == 1 { h0 -= 1; h1 -= 1; h2 -= 1; state = 48; }
                else { break }
            }
            34 => {
                let s7 = t7[h7];
                if s7 == 0 { h7 -= 1; }
                else if s7 == 1 { t11[h11] = 1; state = 35; }
                else { break }
            }
            35 => {
                let s3 = t3[h3]; let s9 = t9[h9]; let s12 = t12[h12];
                if s3 == 0 && s9 == 1 && s12 == 1 { t3[h3] = 1; h3 += 1; h7 += 1; h9 += 1; h12 += 1; state = 37; }
                else if s3 == 1 && s9 == 1 && s12 == 1 { t3[h3] = 0; h3 += 1; h7 += 1; h9 += 1; h12 += 1; state = 36; }
                else if s9 == 0 && s12 == 1 { h3 += 1; h7 += 1; h9 += 1; h12 += 1; state = 36; }
                else if s12 == 0 { h3 -= 1; h12 -= 1; }
                else { break }
            }
            36 => {
                let s3 = t3[h3]; let s7 = t7[h7]; let s9 = t9[h9];
                if s3 == 0 && s7 == 0 && s9 == 1 { t3[h3] = 1; h3 += 1; h7 += 1; h9 += 1; h12 += 1; state = 37; }
                else if s3 == 1 && s7 == 0 && s9 == 1 { t3[h3] = 0; h3 += 1; h7 += 1; h9 += 1; h12 += 1; }
                else if s7 == 0 && s9 == 0 { h3 += 1; h7 += 1; h9 += 1; h12 += 1; }
                else if s7 == 1 { h7 -= 1; h9 -= 1; state = 38; }
                else { break }
            }
            37 => {
                let s3 = t3[h3]; let s7 = t7[h7]; let s9 = t9[h9];
                if s3 == 0 && s7 == 0 && s9 == 0 { t3[h3] = 1; h3 += 1; h7 += 1; h9 += 1; h12 += 1; }
                else if s3 == 1 && s7 == 0 && s9 == 0 { t3[h3] = 0; h3 += 1; h7 += 1; h9 += 1; h12 += 1; state = 36; }
                else if s7 == 0 && s9 == 1 { h3 += 1; h7 += 1; h9 += 1; h12 += 1; }
                else if s7 == 1 { h7 -= 1; h9 -= 1; state = 38; }
                else { break }
            }
            38 => {
                let s7 = t7[h7];
                if s7 == 0 { h7 -= 1; h9 -= 1; }
                else if s7 == 1 { h8 -= 1; state = 39; }
                else { break }
            }
            39 => {
                let s8 = t8[h8];
                if s8 == 0 { h8 -= 1; }
                else if s8 == 1 { h8 += 1; state = 40; }
                else { break }
            }
            40 => {
                { h0 -= 1; h1 -= 1; h2 -= 1; state = 41; }
            }
            41 => {
                let s1 = t1[h1]; let s2 = t2[h2];
                if s1 == 0 && s2 == 0 { h0 -= 1; h1 -= 1; h2 -= 1; }
                else if s1 == 1 && s2 == 0 { h0 -= 1; h1 -= 1; h2 -= 1; state = 42; }
                else if s1 == 0 && s2 == 1 { h0 -= 1; h1 -= 1; h2 -= 1; }
                else if s1 == 1 && s2 == 1 { h0 -= 1; h1 -= 1; h2 -= 1; }
                else { break }
            }
            42 => {
                let s1 = t1[h1]; let s2 = t2[h2];
                if s1 == 0 && s2 == 0 { h0 -= 1; h1 -= 1; h2 -= 1; }
                else if s1 == 1 && s2 == 0 { h0 -= 1; h1 -= 1; h2 -= 1; }
                else if s1 == 0 && s2 == 1 { h0 += 1; h1 += 1; h2 += 1; state = 43; }
                else if s1 == 1 && s2 == 1 { h0 += 1; h1 += 1; h2 += 1; state = 43; }
                else { break }
            }
            43 => {
                let s0 = t0[h0]; let s1 = t1[h1]; let s2 = t2[h2]; let s3 = t3[h3]; let s8 = t8[h8];
                if s0 == 0 && s1 == 1 && s2 == 0 && s8 == 0 { h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; state = 44; }
                else if s0 == 1 && s1 == 1 && s2 == 0 && s3 == 0 && s8 == 0 { t3[h3] = 1; h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; state = 45; }
                else if s0 == 1 && s1 == 1 && s2 == 0 && s3 == 1 && s8 == 0 { t3[h3] = 0; h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; state = 44; }
                else if s1 == 0 && s2 == 0 { h0 += 1; h1 += 1; h2 += 1; }
                else if s1 == 1 && s2 == 0 && s8 == 1 { h0 += 1; h1 += 1; h2 += 1; state = 62; }
                else if s1 == 0 && s2 == 1 { h0 += 1; h1 += 1; h2 += 1; }
                else if s1 == 1 && s2 == 1 { h0 += 1; h1 += 1; h2 += 1; }
                else { break }
            }
            44 => {
                let s0 = t0[h0]; let s3 = t3[h3]; let s7 = t7[h7];
                if s0 == 0 && s7 == 0 { h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; }
                else if s0 == 1 && s3 == 0 && s7 == 0 { t3[h3] = 1; h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; state = 45; }
                else if s0 == 1 && s3 == 1 && s7 == 0 { t3[h3] = 0; h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; }
                else if s7 == 1 { h7 -= 1; state = 46; }
                else { break }
            }
            45 => {
                let s0 = t0[h0]; let s3 = t3[h3]; let s7 = t7[h7];
                if s0 == 0 && s3 == 0 && s7 == 0 { t3[h3] = 1; h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; }
                else if s0 == 0 && s3 == 1 && s7 == 0 { t3[h3] = 0; h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; state = 44; }
                else if s0 == 1 && s7 == 0 { h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; }
                else if s7 == 1 { h7 -= 1; state = 46; }
                else { break }
            }
            46 => {
                let s7 = t7[h7];
                if s7 == 0 { h7 -= 1; }
                else if s7 == 1 { h8 += 1; state = 47; }
                else { break }
            }
            47 => {
                let s0 = t0[h0]; let s3 = t3[h3]; let s8 = t8[h8];
                if s0 == 0 && s8 == 0 { h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; state = 44; }
                else if s0 == 1 && s3 == 0 && s8 == 0 { t3[h3] = 1; h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; state = 45; }
                else if s0 == 1 && s3 == 1 && s8 == 0 { t3[h3] = 0; h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; state = 44; }
                else if s8 == 1 { h0 += 1; h1 += 1; h2 += 1; state = 62; }
                else { break }
            }
            48 => {
                let s1 = t1[h1]; let s2 = t2[h2];
                if s1 == 0 && s2 == 0 { h0 -= 1; h1 -= 1; h2 -= 1; }
                else if s1 == 1 && s2 == 0 { h0 += 1; h1 += 1; h2 += 1; state = 62; }
                else if s1 == 0 && s2 == 1 { h0 += 1; h1 += 1; h2 += 1; state = 62; }
                else if s1 == 1 && s2 == 1 { h0 += 1; h1 += 1; h2 += 1; state = 62; }
                else { break }
            }
            49 => {
                let s3 = t3[h3]; let s9 = t9[h9]; let s12 = t12[h12];
                if s3 == 0 && s9 == 1 && s12 == 1 { t3[h3] = 1; h3 += 1; h7 += 1; h9 += 1; h12 += 1; state = 50; }
                else if s3 == 1 && s9 == 1 && s12 == 1 { t3[h3] = 0; h3 += 1; h7 += 1; h9 += 1; h12 += 1; state = 51; }
                else if s9 == 0 && s12 == 1 { h3 += 1; h7 += 1; h9 += 1; h12 += 1; state = 50; }
                else if s12 == 0 { h3 -= 1; h12 -= 1; }
                else { break }
            }
            50 => {
                let s3 = t3[h3]; let s7 = t7[h7]; let s9 = t9[h9];
                if s3 == 0 && s7 == 0 && s9 == 1 { t3[h3] = 1; h3 += 1; h7 += 1; h9 += 1; h12 += 1; }
                else if s3 == 1 && s7 == 0 && s9 == 1 { t3[h3] = 0; h3 += 1; h7 += 1; h9 += 1; h12 += 1; state = 51; }
                else if s7 == 0 && s9 == 0 { h3 += 1; h7 += 1; h9 += 1; h12 += 1; }
                else if s7 == 1 { h7 -= 1; h9 -= 1; state = 52; }
                else { break }
            }
            51 => {
                let s3 = t3[h3]; let s7 = t7[h7]; let s9 = t9[h9];
                if s3 == 0 && s7 == 0 && s9 == 0 { t3[h3] = 1; h3 += 1; h7 += 1; h9 += 1; h12 += 1; state = 50; }
                else if s3 == 1 && s7 == 0 && s9 == 0 { t3[h3] = 0; h3 += 1; h7 += 1; h9 += 1; h12 += 1; }
                else if s7 == 0 && s9 == 1 { h3 += 1; h7 += 1; h9 += 1; h12 += 1; }
                else if s7 == 1 { h7 -= 1; h9 -= 1; state = 52; }
                else { break }
            }
            52 => {
                let s7 = t7[h7];
                if s7 == 0 { h7 -= 1; h9 -= 1; }
                else if s7 == 1 { h8 -= 1; state = 53; }
                else { break }
            }
            53 => {
                let s8 = t8[h8];
                if s8 == 0 { h8 -= 1; }
                else if s8 == 1 { h8 += 1; state = 54; }
                else { break }
            }
            54 => {
                { h0 -= 1; h1 -= 1; h2 -= 1; state = 55; }
            }
            55 => {
                let s1 = t1[h1]; let s2 = t2[h2];
                if s1 == 0 && s2 == 0 { h0 -= 1; h1 -= 1; h2 -= 1; }
                else if s1 == 1 && s2 == 0 { h0 -= 1; h1 -= 1; h2 -= 1; state = 56; }
                else if s1 == 0 && s2 == 1 { h0 -= 1; h1 -= 1; h2 -= 1; }
                else if s1 == 1 && s2 == 1 { h0 -= 1; h1 -= 1; h2 -= 1; }
                else { break }
            }
            56 => {
                let s1 = t1[h1]; let s2 = t2[h2];
                if s1 == 0 && s2 == 0 { h0 -= 1; h1 -= 1; h2 -= 1; }
                else if s1 == 1 && s2 == 0 { h0 -= 1; h1 -= 1; h2 -= 1; }
                else if s1 == 0 && s2 == 1 { h0 += 1; h1 += 1; h2 += 1; state = 57; }
                else if s1 == 1 && s2 == 1 { h0 += 1; h1 += 1; h2 += 1; state = 57; }
                else { break }
            }
            57 => {
                let s0 = t0[h0]; let s1 = t1[h1]; let s2 = t2[h2]; let s3 = t3[h3]; let s8 = t8[h8];
                if s0 == 0 && s1 == 1 && s2 == 0 && s8 == 0 { h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; state = 58; }
                else if s0 == 1 && s1 == 1 && s2 == 0 && s3 == 0 && s8 == 0 { t3[h3] = 1; h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; state = 58; }
                else if s0 == 1 && s1 == 1 && s2 == 0 && s3 == 1 && s8 == 0 { t3[h3] = 0; h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; state = 59; }
                else if s1 == 0 && s2 == 0 { h0 += 1; h1 += 1; h2 += 1; }
                else if s1 == 1 && s2 == 0 && s8 == 1 { h0 += 1; h1 += 1; h2 += 1; state = 62; }
                else if s1 == 0 && s2 == 1 { h0 += 1; h1 += 1; h2 += 1; }
                else if s1 == 1 && s2 == 1 { h0 += 1; h1 += 1; h2 += 1; }
                else { break }
            }
            58 => {
                let s0 = t0[h0]; let s3 = t3[h3]; let s7 = t7[h7];
                if s0 == 0 && s7 == 0 { h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; }
                else if s0 == 1 && s3 == 0 && s7 == 0 { t3[h3] = 1; h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; }
                else if s0 == 1 && s3 == 1 && s7 == 0 { t3[h3] = 0; h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; state = 59; }
                else if s7 == 1 { h7 -= 1; state = 60; }
                else { break }
            }
            59 => {
                let s0 = t0[h0]; let s3 = t3[h3]; let s7 = t7[h7];
                if s0 == 0 && s3 == 0 && s7 == 0 { t3[h3] = 1; h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; state = 58; }
                else if s0 == 0 && s3 == 1 && s7 == 0 { t3[h3] = 0; h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; }
                else if s0 == 1 && s7 == 0 { h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; }
                else if s7 == 1 { h7 -= 1; state = 60; }
                else { break }
            }
            60 => {
                let s7 = t7[h7];
                if s7 == 0 { h7 -= 1; }
                else if s7 == 1 { h8 += 1; state = 61; }
                else { break }
            }
            61 => {
                let s0 = t0[h0]; let s3 = t3[h3]; let s8 = t8[h8];
                if s0 == 0 && s8 == 0 { h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; state = 58; }
                else if s0 == 1 && s3 == 0 && s8 == 0 { t3[h3] = 1; h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; state = 58; }
                else if s0 == 1 && s3 == 1 && s8 == 0 { t3[h3] = 0; h0 += 1; h1 += 1; h2 += 1; h3 += 1; h7 += 1; h12 += 1; state = 59; }
                else if s8 == 1 { h0 += 1; h1 += 1; h2 += 1; state = 62; }
                else { break }
            }
            62 => {
                let s1 = t1[h1]; let s2 = t2[h2]; let s12 = t12[h12];
                if s1 == 0 && s2 == 0 { h0 += 1; h1 += 1; h2 += 1; }
                else if s1 == 1 && s2 == 0 && s12 == 0 { h3 -= 1; h12 -= 1; state = 63; }
                else if s1 == 1 && s2 == 0 && s12 == 1 { h8 -= 1; state = 64; }
                else if s1 == 0 && s2 == 1 { h0 += 1; h1 += 1; h2 += 1; }
                else if s1 == 1 && s2 == 1 && s12 == 0 { h3 -= 1; h12 -= 1; state = 63; }
                else if s1 == 1 && s2 == 1 && s12 == 1 { h8 -= 1; state = 64; }
                else { break }
            }
            63 => {
                let s12 = t12[h12];
                if s12 == 0 { h3 -= 1; h12 -= 1; }
                else if s12 == 1 { h8 -= 1; state = 64; }
                else { break }
            }
            64 => {
                let s1 = t1[h1]; let s2 = t2[h2]; let s3 = t3[h3]; let s8 = t8[h8];
                if s1 == 1 && s2 == 0 && s3 == 0 && s8 == 1 { t10[h10] = 0; h3 += 1; h7 += 1; h10 += 1; h12 += 1; state = 5; }
                else if s1 == 1 && s2 == 0 && s3 == 1 && s8 == 1 { t10[h10] = 1; h3 += 1; h7 += 1; h10 += 1; h12 += 1; state = 5; }
                else if s1 == 1 && s2 == 1 && s8 == 1 { h0 -= 1; h1 -= 1; h2 -= 1; state = 65; }
                else if s8 == 0 { h8 -= 1; }
                else { break }
            }
            65 => {
                let s1 = t1[h1]; let s2 = t2[h2];
                if s1 == 0 && s2 == 0 { h0 -= 1; h1 -= 1; h2 -= 1; }
                else if s1 == 1 && s2 == 0 { h0 -= 1; h1 -= 1; h2 -= 1; }
                else if s1 == 0 && s2 == 1 { h0 -= 1; h1 -= 1; h2 -= 1; }
                else if s1 == 1 && s2 == 1 { h0 += 1; h1 += 1; h2 += 1; state = 2; }
                else { break }
            }
            66 => {
                let s0 = t0[h0]; let s6 = t6[h6];
                if s0 == 0 && s6 == 0 { h0 += 1; h1 += 1; h2 += 1; h4 += 1; h5 += 1; h6 += 1; }
                else if s0 == 1 && s6 == 0 { h0 += 1; h1 += 1; h2 += 1; h6 += 1; state = 67; }
                else if s6 == 1 { h4 -= 1; h5 -= 1; h6 -= 1; state = 86; }
                else { break }
            }
            67 => {
                let s0 = t0[h0]; let s3 = t3[h3]; let s4 = t4[h4]; let s6 = t6[h6];
                if s0 == 0 && s3 == 0 && s6 == 0 { h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 68; }
                else if s0 == 0 && s3 == 1 && s4 == 0 && s6 == 0 { t4[h4] = 1; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 69; }
                else if s0 == 0 && s3 == 1 && s4 == 1 && s6 == 0 { t4[h4] = 0; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 70; }
                else if s0 == 1 && s3 == 0 && s6 == 0 { h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 71; }
                else if s0 == 1 && s3 == 1 && s4 == 0 && s6 == 0 { t4[h4] = 1; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 72; }
                else if s0 == 1 && s3 == 1 && s4 == 1 && s6 == 0 { t4[h4] = 0; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 73; }
                else if s3 == 0 && s6 == 1 { h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 71; }
                else if s3 == 1 && s4 == 0 && s6 == 1 { t4[h4] = 1; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 72; }
                else if s3 == 1 && s4 == 1 && s6 == 1 { t4[h4] = 0; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 73; }
                else { break }
            }
            68 => {
                let s3 = t3[h3]; let s4 = t4[h4]; let s5 = t5[h5]; let s7 = t7[h7];
                if s3 == 0 && s5 == 0 && s7 == 0 { h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; }
                else if s3 == 1 && s4 == 0 && s5 == 0 && s7 == 0 { t4[h4] = 1; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 69; }
                else if s3 == 1 && s4 == 1 && s5 == 0 && s7 == 0 { t4[h4] = 0; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 70; }
                else if s5 == 1 && s7 == 0 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 75; }
                else if s7 == 1 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 75; }
                else { break }
            }
            69 => {
                let s3 = t3[h3]; let s4 = t4[h4]; let s5 = t5[h5]; let s7 = t7[h7];
                if s3 == 0 && s5 == 0 && s7 == 0 { h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 68; }
                else if s3 == 1 && s4 == 0 && s5 == 0 && s7 == 0 { t4[h4] = 1; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; }
                else if s3 == 1 && s4 == 1 && s5 == 0 && s7 == 0 { t4[h4] = 0; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 70; }
                else if s4 == 0 && s5 == 0 && s7 == 1 { t4[h4] = 1; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 76; }
                else if s4 == 1 && s5 == 0 && s7 == 1 { t4[h4] = 0; state = 74; }
                else if s5 == 1 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 75; }
                else { break }
            }
            70 => {
                let s3 = t3[h3]; let s4 = t4[h4]; let s5 = t5[h5]; let s7 = t7[h7];
                if s3 == 0 && s4 == 0 && s5 == 0 && s7 == 0 { t4[h4] = 1; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 68; }
                else if s3 == 0 && s4 == 1 && s5 == 0 && s7 == 0 { t4[h4] = 0; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 77; }
                else if s3 == 1 && s5 == 0 && s7 == 0 { h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; }
                else if s5 == 1 && s7 == 0 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 75; }
                else if s7 == 1 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 75; }
                else { break }
            }
            71 => {
                let s3 = t3[h3]; let s4 = t4[h4]; let s5 = t5[h5]; let s7 = t7[h7];
                if s3 == 0 && s5 == 0 && s7 == 0 { h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; }
                else if s3 == 1 && s4 == 0 && s5 == 0 && s7 == 0 { t4[h4] = 1; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 72; }
                else if s3 == 1 && s4 == 1 && s5 == 0 && s7 == 0 { t4[h4] = 0; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 73; }
                else if s5 == 1 && s7 == 0 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 79; }
                else if s7 == 1 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 79; }
                else { break }
            }
            72 => {
                let s3 = t3[h3]; let s4 = t4[h4]; let s5 = t5[h5]; let s7 = t7[h7];
                if s3 == 0 && s4 == 0 && s5 == 0 && s7 == 0 { t4[h4] = 1; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 80; }
                else if s3 == 0 && s4 == 1 && s5 == 0 && s7 == 0 { t4[h4] = 0; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 71; }
                else if s3 == 1 && s5 == 0 && s7 == 0 { h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; }
                else if s5 == 1 && s7 == 0 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 79; }
                else if s7 == 1 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 79; }
                else { break }
            }
            73 => {
                let s3 = t3[h3]; let s4 = t4[h4]; let s5 = t5[h5]; let s7 = t7[h7];
                if s3 == 0 && s5 == 0 && s7 == 0 { h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 71; }
                else if s3 == 1 && s4 == 0 && s5 == 0 && s7 == 0 { t4[h4] = 1; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 72; }
                else if s3 == 1 && s4 == 1 && s5 == 0 && s7 == 0 { t4[h4] = 0; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; }
                else if s4 == 0 && s5 == 0 && s7 == 1 { t4[h4] = 1; state = 78; }
                else if s4 == 1 && s5 == 0 && s7 == 1 { t4[h4] = 0; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 81; }
                else if s5 == 1 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 79; }
                else { break }
            }
            74 => {
                let s7 = t7[h7];
                if s7 == 0 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; }
                else if s7 == 1 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 75; }
                else { break }
            }
            75 => {
                let s7 = t7[h7];
                if s7 == 0 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; }
                else if s7 == 1 { h4 += 1; h5 += 1; state = 66; }
                else { break }
            }
            76 => {
                let s4 = t4[h4]; let s5 = t5[h5]; let s7 = t7[h7];
                if s4 == 0 && s5 == 0 { t4[h4] = 1; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; }
                else if s4 == 1 && s5 == 0 { t4[h4] = 0; state = 74; }
                else if s5 == 1 && s7 == 0 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 74; }
                else if s5 == 1 && s7 == 1 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 75; }
                else { break }
            }
            77 => {
                let s3 = t3[h3]; let s4 = t4[h4]; let s5 = t5[h5]; let s7 = t7[h7];
                if s3 == 0 && s4 == 0 && s5 == 0 && s7 == 0 { t4[h4] = 1; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 68; }
                else if s3 == 0 && s4 == 1 && s5 == 0 && s7 == 0 { t4[h4] = 0; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; }
                else if s3 == 1 && s5 == 0 && s7 == 0 { h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 70; }
                else if s4 == 0 && s5 == 0 && s7 == 1 { t4[h4] = 1; state = 74; }
                else if s4 == 1 && s5 == 0 && s7 == 1 { t4[h4] = 0; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 82; }
                else if s5 == 1 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 75; }
                else { break }
            }
            78 => {
                let s7 = t7[h7];
                if s7 == 0 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; }
                else if s7 == 1 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 79; }
                else { break }
            }
            79 => {
                let s7 = t7[h7];
                if s7 == 0 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; }
                else if s7 == 1 { h4 += 1; h5 += 1; state = 83; }
                else { break }
            }
            80 => {
                let s3 = t3[h3]; let s4 = t4[h4]; let s5 = t5[h5]; let s7 = t7[h7];
                if s3 == 0 && s4 == 0 && s5 == 0 && s7 == 0 { t4[h4] = 1; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; }
                else if s3 == 0 && s4 == 1 && s5 == 0 && s7 == 0 { t4[h4] = 0; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 71; }
                else if s3 == 1 && s5 == 0 && s7 == 0 { h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 72; }
                else if s4 == 0 && s5 == 0 && s7 == 1 { t4[h4] = 1; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 84; }
                else if s4 == 1 && s5 == 0 && s7 == 1 { t4[h4] = 0; state = 78; }
                else if s5 == 1 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 79; }
                else { break }
            }
            81 => {
                let s4 = t4[h4]; let s5 = t5[h5]; let s7 = t7[h7];
                if s4 == 0 && s5 == 0 { t4[h4] = 1; state = 78; }
                else if s4 == 1 && s5 == 0 { t4[h4] = 0; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; }
                else if s5 == 1 && s7 == 0 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 78; }
                else if s5 == 1 && s7 == 1 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 79; }
                else { break }
            }
            82 => {
                let s4 = t4[h4]; let s5 = t5[h5]; let s7 = t7[h7];
                if s4 == 0 && s5 == 0 { t4[h4] = 1; state = 74; }
                else if s4 == 1 && s5 == 0 { t4[h4] = 0; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; }
                else if s5 == 1 && s7 == 0 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 74; }
                else if s5 == 1 && s7 == 1 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 75; }
                else { break }
            }
            83 => {
                let s0 = t0[h0]; let s6 = t6[h6];
                if s0 == 0 && s6 == 0 { h0 += 1; h1 += 1; h2 += 1; h6 += 1; state = 85; }
                else if s0 == 1 && s6 == 0 { h0 += 1; h1 += 1; h2 += 1; h4 += 1; h5 += 1; h6 += 1; }
                else if s6 == 1 { h4 -= 1; h5 -= 1; h6 -= 1; state = 86; }
                else { break }
            }
            84 => {
                let s4 = t4[h4]; let s5 = t5[h5]; let s7 = t7[h7];
                if s4 == 0 && s5 == 0 { t4[h4] = 1; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; }
                else if s4 == 1 && s5 == 0 { t4[h4] = 0; state = 78; }
                else if s5 == 1 && s7 == 0 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 78; }
                else if s5 == 1 && s7 == 1 { h3 -= 1; h4 -= 1; h5 -= 1; h7 -= 1; h12 -= 1; state = 79; }
                else { break }
            }
            85 => {
                let s0 = t0[h0]; let s3 = t3[h3]; let s4 = t4[h4]; let s6 = t6[h6];
                if s0 == 0 && s3 == 0 { h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 68; }
                else if s0 == 0 && s3 == 1 && s4 == 0 { t4[h4] = 1; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 69; }
                else if s0 == 0 && s3 == 1 && s4 == 1 { t4[h4] = 0; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 70; }
                else if s0 == 1 && s3 == 0 && s6 == 0 { h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 71; }
                else if s0 == 1 && s3 == 0 && s6 == 1 { h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 68; }
                else if s0 == 1 && s3 == 1 && s4 == 0 && s6 == 0 { t4[h4] = 1; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 72; }
                else if s0 == 1 && s3 == 1 && s4 == 0 && s6 == 1 { t4[h4] = 1; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 69; }
                else if s0 == 1 && s3 == 1 && s4 == 1 && s6 == 0 { t4[h4] = 0; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 73; }
                else if s0 == 1 && s3 == 1 && s4 == 1 && s6 == 1 { t4[h4] = 0; h3 += 1; h4 += 1; h5 += 1; h7 += 1; h12 += 1; state = 70; }
                else { break }
            }
            86 => {
                let s4 = t4[h4]; let s6 = t6[h6];
                if s4 == 0 && s6 == 1 { h4 += 1; h5 += 1; h7 -= 1; state = 8; }
                else if s4 == 1 && s6 == 1 { t4[h4] = 0; h4 += 1; h5 += 1; h7 -= 1; state = 8; }
                else if s6 == 0 { h4 -= 1; h5 -= 1; h6 -= 1; }
                else { break }
            }
            _ => break,
        }
        steps += 1;
    }
    *heads = [h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11, h12];
    steps
}
